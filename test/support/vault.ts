/**
 * A whole vault inside a test: the real store in a temporary folder, the real application, a fake
 * clock. Requests go through the application's own handler.
 * @module
 */
import { buildApp } from '../../src/server/listen/app.ts'
import { openVaultKeys, createVault } from '../../src/vault/vault.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import type { Store } from '../../src/store/contract.ts'
import { openAt } from '../store/postgres/subject.ts'
import { makeScheduler } from '../../src/lib/work.ts'
import type { Deps } from '../../src/deps.ts'
import { defaultSettings, type Settings } from '../../src/settings/settings.ts'
import { auditLogOf } from './audit-log.ts'
import { temporaryFolder } from './folders.ts'
import { fakeClock, seededBytes, type FakeClock } from './seeded.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body; empty when there is none. */
  readonly body: Readonly<Record<string, unknown>>
}

export interface Ask {
  readonly key?: string
  readonly body?: unknown
  /** Sent unchanged, instead of `body`. */
  readonly raw?: string | Uint8Array
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface TestVault {
  readonly deps: Deps
  readonly clock: FakeClock
  readonly tenantId: string
  readonly managementKey: string
  readonly folder: string
  /** Every log line, as text. */
  readonly logged: string[]
  ask(method: string, path: string, ask?: Ask): Promise<Answer>
  /** Makes an application and returns its key. */
  application(body: Readonly<Record<string, unknown>>): Promise<string>
}

/** Settings for tests beyond the guess budget of a caller who does not see data. */
export const anyGuesses: Partial<Settings> = {
  searchGuessesPerMinuteMax: 0,
  createGuessesPerMinuteMax: 0,
}

export const masterKeyOf = (seed: number): Uint8Array => seededBytes(seed)(32)

/** Several texts of JSON are no text of JSON. */
const isLines = ({ headers }: Response): boolean =>
  headers.get('content-type') === 'application/x-ndjson'

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' || isLines(response) ? {} : JSON.parse(text),
  }
}

export function requestOf(method: string, path: string, ask: Ask): Request {
  const headers = new Headers(ask.headers)
  if (ask.key !== undefined) headers.set('SVC-API-KEY', ask.key)
  const content = ask.raw ?? (ask.body === undefined ? undefined : JSON.stringify(ask.body))
  const usual = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  if (content !== undefined) headers.set('content-type', ask.type ?? usual)
  else if (ask.type !== undefined) headers.set('content-type', ask.type)
  return new Request(`http://localhost${path}`, {
    method,
    headers,
    ...(content === undefined ? {} : { body: content }),
  })
}

/** There are thousands of these vaults: a reserve for each would fill the disk. */
const takeNothing = () => false

/** True if the suite runs over PostgreSQL instead of the embedded engine. */
const isOverPostgres = process.env['COFFER_TEST_STORE'] === 'postgres'

const openStore = (folder: string): Promise<Store> =>
  isOverPostgres ? openAt(folder) : openLmdbStore({ path: folder, allocate: takeNothing })

/** Starts the application with these parts, a clock and a store. */
function serve(
  deps: Deps,
  rest: Pick<TestVault, 'clock' | 'folder' | 'logged' | 'tenantId' | 'managementKey'>,
): TestVault {
  const app = buildApp(deps)
  const ask: TestVault['ask'] = async (method, path, asked = {}) =>
    answerOf(await app.handle(requestOf(method, path, asked)))
  return {
    ...rest,
    deps,
    ask,
    async application(body) {
      const {
        status,
        body: answered,
        text,
      } = await ask('POST', '/applications', {
        key: rest.managementKey,
        body: { name: 'under test', ...body },
      })
      if (status !== 201) throw new Error(`no application: ${text}`)
      return String(answered['key'])
    },
  }
}

/** @param open opens the store of its folder */
export async function openTestVault(
  seed = 1,
  settings: Partial<Settings> = {},
  open = openStore,
): Promise<TestVault> {
  const folder = temporaryFolder()
  const clock = fakeClock()
  const startMs = clock.now()
  const randomBytes = seededBytes(seed)
  const store = await open(folder)
  const masterKey = masterKeyOf(seed)
  const made = await createVault({ store, now: clock.now, randomBytes }, masterKey)
  const keys = await openVaultKeys(store, masterKey)
  const logged: string[] = []
  const log: Deps['log'] = (event, facts) => logged.push(JSON.stringify({ event, ...facts }))
  const deps: Deps = {
    store,
    keys,
    now: clock.now,
    settled: clock.now,
    elapsedMs: () => clock.now() - startMs,
    turns: makeScheduler(() => clock.now() - startMs),
    randomBytes,
    log,
    audit: auditLogOf({ store, keys, now: clock.now, log }),
    settings: { ...defaultSettings, ...settings },
  }
  const { tenantId } = made
  return serve(deps, { clock, folder, logged, tenantId, managementKey: made.key.reveal() })
}

/**
 * Ends the vault and opens its folder again, as a new process would: everything in memory is lost.
 * @param seed of the reopened vault
 */
export async function reopenTestVault(vault: TestVault, seed = 1): Promise<TestVault> {
  await vault.deps.audit.flush()
  await vault.deps.store.close()
  const store = await openStore(vault.folder)
  const keys = await openVaultKeys(store, masterKeyOf(seed))
  const audit = auditLogOf({ ...vault.deps, store, keys })
  return serve({ ...vault.deps, store, keys, audit }, vault)
}
