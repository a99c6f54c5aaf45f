/**
 * A real vault inside a test, on a port of its own, gone with the test:
 *
 *     await using vault = await startVault()
 *     const { id } = await vault.client('public').tokens.create({ type: 'card', data })
 *     vault.clock.advance('3m')
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createClient,
  type Application,
  type Client,
  type ClientOptions,
  type CreateApplicationRequest,
  type NewToken,
  type SessionGrants,
  type Token,
} from '../client/index.ts'
import { makeClock, noMark } from '../serve/clock.ts'
import { makeDemoVault, type DemoParts, type DemoVault } from '../serve/demo-vault.ts'
import { startServer } from '../serve/server.ts'
import { defaultSettings, type Settings } from '../settings.ts'
import { makeMovedTime, type TestClock } from './clock.ts'

export type { TestClock } from './clock.ts'

/** `public` may create and update, `private` reveals, `management` makes keys. */
export type KeyKind = 'public' | 'private' | 'management'

export interface StartOptions {
  /** Others than those that a vault has by itself. */
  readonly settings?: Partial<Settings>
  /** What time it is for the vault when it starts; that of the machine where it is left out. */
  readonly startAt?: Date
  /** Is told what the log is told; nobody where it is left out. */
  readonly log?: (event: string, facts?: object) => void
}

type Options = Partial<Omit<ClientOptions, 'address' | 'key'>>

export interface TestVault extends AsyncDisposable {
  /** As `http://127.0.0.1:41234`, with the base path where the settings have one. */
  readonly address: string
  readonly tenantId: string
  readonly keys: Readonly<Record<KeyKind, string>>
  readonly clock: TestClock
  /** With the key of that kind; `private` where nothing is said. */
  readonly client: (kind?: KeyKind, options?: Options) => Client
  /** One more application, with a client of its own. */
  readonly application: (
    application: Omit<CreateApplicationRequest, 'name'> & { readonly name?: string },
  ) => Promise<Application & { readonly key: string; readonly client: Client }>
  /** A session as a page has one, begun and authorized. */
  readonly session: (grants: Omit<SessionGrants, 'nonce'>) => Promise<Client>
  /** @returns their ids, in order */
  readonly seed: (tokens: readonly NewToken[]) => Promise<readonly string[]>
  readonly stop: () => Promise<void>
}

/** decision: tokens of one request when a vault is seeded. */
const seedBatch = 500
/** More than any reserve. */
const bytesFree = Number.MAX_SAFE_INTEGER

function ways(address: string, demo: DemoVault) {
  const keys = {
    management: demo.management.reveal(),
    private: demo.private.reveal(),
    public: demo.public.reveal(),
  }
  const client = (kind: KeyKind = 'private', options: Options = {}): Client =>
    createClient({ ...options, address, key: keys[kind] })
  const ways: Pick<TestVault, 'keys' | 'client' | 'application' | 'session' | 'seed'> = {
    keys,
    client,
    async application(application) {
      const made = await client('management').applications.create({ name: 'Test', ...application })
      return { ...made, client: createClient({ address, key: made.key }) }
    },
    async session(grants) {
      const { nonce, session_key: key } = await client('public').sessions.create()
      await client().sessions.authorize({ ...grants, nonce })
      return createClient({ address, key })
    },
    async seed(tokens) {
      const ids: string[] = []
      for (let from = 0; from < tokens.length; from += seedBatch) {
        const batch = tokens.slice(from, from + seedBatch)
        const made = await client().tokenize<readonly Token[]>(batch)
        ids.push(...made.map(({ id }) => id))
      }
      return ids
    },
  }
  return ways
}

/**
 * Its files have no name any more when it begins: they go with the process, however that ends.
 */
async function openNameless(parts: Omit<DemoParts, 'allocate' | 'freeBytes'>): Promise<DemoVault> {
  const path = mkdtempSync(join(tmpdir(), 'coffer-testing-'))
  try {
    // Nothing can ask the file system any more; what fills the disk of a test is no loss.
    return await makeDemoVault(path, {
      ...parts,
      allocate: () => false,
      freeBytes: () => bytesFree,
    })
  } finally {
    rmSync(path, { recursive: true })
  }
}

/** @throws CommandFailure when no port can be had */
export async function startVault(options: StartOptions = {}): Promise<TestVault> {
  const given = { ...defaultSettings, ...options.settings }
  // As the command line reads it.
  const settings = { ...given, basePath: given.basePath.replace(/\/$/, '') }
  const { wall, elapsedMs, advance } = makeMovedTime(options.startAt)
  const log = options.log ?? (() => {})
  const clock = makeClock({ wall, elapsedMs, mark: noMark, startHoldMs: 0, log })
  const demo = await openNameless({ settings, clock, elapsedMs, log })
  const server = await startServer(demo.deps, { host: '127.0.0.1', port: 0 })
  const address = server.address + settings.basePath
  let stopped: Promise<void> | undefined
  const end = async (): Promise<void> => {
    await server.stop()
    demo.deps.keys.wipe()
  }
  const stop = (): Promise<void> => (stopped ??= end())
  return {
    ...ways(address, demo),
    address,
    tenantId: demo.tenantId,
    clock: { now: () => new Date(clock.now()), advance },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
