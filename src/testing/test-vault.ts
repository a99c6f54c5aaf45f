/**
 * Handle of a vault under test, wherever that runs.
 * @module
 */
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
import type { Settings } from '../settings/settings.ts'
import type { TestClock } from './test-clock.ts'

/** `public` may create and update, `private` reveals, `management` makes keys. */
export type KeyKind = 'public' | 'private' | 'management'

export interface StartOptions {
  /** Overrides of the default settings. */
  readonly settings?: Partial<Settings>
  /** Time of the vault at its start; default: the machine's. */
  readonly startAt?: Date
  /** Receives the vault's log; without it nobody does. */
  readonly log?: (event: string, facts?: object) => void
}

type Options = Partial<Omit<ClientOptions, 'address' | 'key'>>

export interface TestVault extends AsyncDisposable {
  /** As `http://127.0.0.1:41234`, with the base path of the settings. */
  readonly address: string
  readonly tenantId: string
  readonly keys: Readonly<Record<KeyKind, string>>
  readonly clock: TestClock
  /** Client with the key of that kind; default: `private`. */
  readonly client: (kind?: KeyKind, options?: Options) => Client
  /** Adds an application, with a client of its own. */
  readonly application: (
    application: Omit<CreateApplicationRequest, 'name'> & { readonly name?: string },
  ) => Promise<Application & { readonly key: string; readonly client: Client }>
  /** Opens and authorizes a session, as for a page. */
  readonly session: (grants: Omit<SessionGrants, 'nonce'>) => Promise<Client>
  /** @returns their ids, in order */
  readonly seed: (tokens: readonly NewToken[]) => Promise<readonly string[]>
  readonly stop: () => Promise<void>
}

/** decision: size of one request when a vault is seeded. */
const seedBatch = 500

/** Symbol that compilers of `await using` look for in runtimes without it. */
const asyncDispose: typeof Symbol.asyncDispose =
  (Symbol.asyncDispose as typeof Symbol.asyncDispose | undefined) ??
  (Symbol.for('Symbol.asyncDispose') as typeof Symbol.asyncDispose)

export type Started = Pick<TestVault, 'address' | 'tenantId' | 'keys' | 'clock' | 'stop'>

/** @param started  a vault that answers; it is stopped once, however often `stop` is called */
export function testVaultOf(started: Started): TestVault {
  const { address, keys } = started
  const client = (kind: KeyKind = 'private', options: Options = {}): Client =>
    createClient({ ...options, address, key: keys[kind] })
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= started.stop())
  return {
    ...started,
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
    stop,
    [asyncDispose]: stop,
  } as TestVault
}
