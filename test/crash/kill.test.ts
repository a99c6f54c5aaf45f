/**
 * `kill -9` under parallel writers, again and again on one data folder: nothing acknowledged is
 * lost, and rows, uniques, terms and deadlines agree.
 * @module
 */
import { auditLogOf } from '../support/audit-log.ts'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { buildApp } from '../../src/server/listen/app.ts'
import { readMasterKey } from '../../src/server/keys/master-key.ts'
import { defaultSettings } from '../../src/settings/settings.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { makeScheduler } from '../../src/lib/work.ts'
import { openVaultKeys } from '../../src/vault/vault.ts'
import { sumDamageIn } from './clients/integrity.ts'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { seededBytes } from '../support/seeded.ts'
import { requestOf } from '../support/vault.ts'
import { breach, record, type Ledger } from './ledger.ts'

const rounds = 50
const writers = 64
/** A round's kill comes after at most so many acknowledged writes, however slow the machine is. */
const acknowledgedPerRoundMax = 64
const seed = Number(process.env['SEED'] ?? Math.floor(performance.now() * 1_000))

const permissions = ['token:create', 'token:read', 'token:update', 'token:delete']

interface Target {
  readonly socket: string
  readonly key: string
}

/** Creates, changes and sometimes deletes its own tokens until the server is gone. */
async function write(target: Target, ledger: Ledger, prefix: string): Promise<void> {
  const send = (method: string, path: string, body?: unknown) => async () => {
    const request = requestOf(method, path, {
      key: target.key,
      ...(body === undefined ? {} : { body }),
    })
    const response = await fetch(request, { unix: target.socket })
    await response.arrayBuffer()
    return response.status
  }
  for (let count = 0; ; count += 1) {
    const id = `${prefix}-${count}`
    const token = { id, type: 'token', data: 1, metadata: { writer: prefix } }
    await record(ledger, id, 1, send('POST', '/tokens', token), 201)
    await record(ledger, id, 2, send('PATCH', `/tokens/${id}`, { data: 2 }), 200)
    if (count % 4 === 0) await record(ledger, id, undefined, send('DELETE', `/tokens/${id}`), 204)
  }
}

/** Returns the contents of the folder, read through the application, and its integrity findings. */
async function inspect(data: string, key: string, ids: Iterable<string>) {
  const store = await openLmdbStore({ path: join(data, 'store') })
  const keys = await openVaultKeys(store, readMasterKey(join(data, 'master.key')))
  const deps = {
    store,
    keys,
    now: Date.now,
    settled: Date.now,
    elapsedMs: Date.now,
    turns: makeScheduler(Date.now),
    randomBytes: seededBytes(1),
    log: () => {},
    audit: auditLogOf({ store, keys, now: Date.now, log: () => {} }),
    settings: defaultSettings,
  }
  const app = buildApp(deps)
  const states = new Map<string, number | undefined>()
  for (const id of ids) {
    const response = await app.handle(requestOf('GET', `/tokens/${id}`, { key }))
    const body = (await response.json()) as { data?: number }
    states.set(id, response.status === 404 ? undefined : body.data)
  }
  const list = await app.handle(requestOf('GET', '/tokens?size=1', { key }))
  const { pagination } = (await list.json()) as { pagination: { total_items: number } }
  const findings = [...(await store.integrity()), ...(await sumDamageIn(store, keys))]
  await store.close()
  return { states, total: pagination.total_items, findings }
}

async function makeFolder(data: string): Promise<string> {
  const made = await runCoffer(['init', '--data', data, '--json'])
  const managementKey = String((JSON.parse(made.stdout) as { key: string }).key)
  const socket = join(data, '..', 'setup.sock')
  const server = await startCoffer(['serve', '--data', data, '--socket', socket])
  const rule = { priority: 1, container: '/', transform: 'reveal', permissions }
  const body = { name: 'writer', type: 'private', rules: [rule] }
  const request = requestOf('POST', '/applications', { key: managementKey, body })
  const response = await fetch(request, { unix: socket })
  const { key } = (await response.json()) as { key: string }
  expect(await server.end('SIGTERM')).toBe(0)
  return key
}

// proves H163, S62
test(`loses no acknowledged write over ${rounds} kills under ${writers} writers`, async () => {
  const random = seededBytes(seed)
  const data = join(temporaryFolder(), 'data')
  const key = await makeFolder(data)
  const socket = join(data, '..', 'vault.sock')
  const ledger: Ledger = { entries: new Map(), acknowledged: 0 }
  for (let round = 0; round < rounds; round += 1) {
    const server = await startCoffer(['serve', '--data', data, '--socket', socket])
    const work = Promise.allSettled(
      Array.from({ length: writers }, (_, writer) =>
        write({ socket, key }, ledger, `r${round}-w${writer}`),
      ),
    )
    const enough = ledger.acknowledged + ((random(1)[0] ?? 0) % acknowledgedPerRoundMax)
    while (ledger.acknowledged < enough) await Bun.sleep(1)
    await Bun.sleep((random(1)[0] ?? 0) % 4)
    await server.end('SIGKILL')
    for (const outcome of await work) {
      // A refused operation is a finding; a broken connection is the effect of a kill.
      const reason = outcome.status === 'rejected' ? String(outcome.reason) : 'never ended'
      if (/expected \d+, got/.test(reason))
        throw new Error(`seed ${seed}, round ${round}: ${reason}`)
    }
  }
  const { states, total, findings } = await inspect(data, key, ledger.entries.keys())
  const breaches = [...ledger.entries].flatMap(([id, entry]) => breach(entry, states.get(id)) ?? [])
  expect({ seed, breaches, findings }).toEqual({ seed, breaches: [], findings: [] })
  expect(total).toBe([...states.values()].filter(state => state !== undefined).length)
  expect(ledger.acknowledged).toBeGreaterThan(rounds)
  console.info(
    `kill -9: seed ${seed}, ${rounds} kills, ${ledger.acknowledged} acknowledged, 0 lost`,
  )
}, 900_000)
