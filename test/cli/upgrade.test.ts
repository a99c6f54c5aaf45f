/**
 * `coffer upgrade` as a person runs it, on vaults that the last version of each older format made.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import ofFormat2 from '../fixtures/vault-of-format-2.json' with { type: 'json' }
import ofFormat3 from '../fixtures/vault-of-format-3.json' with { type: 'json' }
import { cofferCommand, runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { openLmdbStore } from '../../src/store/lmdb/open.ts'
import { temporaryFolder } from '../support/folders.ts'

const databaseOf = (data: string): string => join(data, 'store', 'data.mdb')
const stampOf = (data: string): string => readFileSync(join(data, 'format'), 'latin1')

type Old = typeof ofFormat2

const databaseIn = (old: Old): Uint8Array => gunzipSync(Buffer.from(old.database, 'base64'))

function makeOld(old: Old = ofFormat2, database = databaseIn(old)): string {
  const data = join(temporaryFolder(), 'vault')
  mkdirSync(join(data, 'store'), { recursive: true, mode: 0o700 })
  writeFileSync(join(data, 'format'), old.stamp)
  writeFileSync(join(data, 'master.key'), old.masterKey, { mode: 0o600 })
  writeFileSync(databaseOf(data), database, { mode: 0o600 })
  return data
}

const upgrade = (data: string): Promise<Ended> => runCoffer(['upgrade', '--data', data])

/** What the vault answers to whoever held its key before. */
async function expectAllThere(data: string, old: Old = ofFormat2): Promise<void> {
  expect(await runCoffer(['verify', '--data', data])).toMatchObject({ exitCode: 0, stderr: '' })
  const server = await startCoffer(['serve', '--data', data, '--port', '0'])
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? ''
  const headers = { 'SVC-API-KEY': old.key, 'content-type': 'application/json' }
  const get = async (path: string) => (await fetch(url + path, { headers })).json()
  const find = async (query: string) => {
    const body = JSON.stringify({ query })
    return (await fetch(`${url}/tokens/search`, { method: 'POST', headers, body })).json()
  }
  expect(await get('/tokens/old-0')).toMatchObject({ data: 'data of old-0', metadata: { n: '0' } })
  expect(await get('/tokens/old-1')).toMatchObject({ data: 'changed' })
  expect((await fetch(`${url}/tokens/old-2`, { headers })).status).toBe(404)
  expect(await get('/tokens/old-card')).toMatchObject({ data: { number: '4242424242424242' } })
  expect(await get('/tokens')).toMatchObject({ pagination: { total_items: 12 } })
  const found = (await find('metadata.n:"0"')) as { data: { id: string }[] }
  expect(found.data.map(({ id }) => id)).toEqual(['old-9', 'old-6', 'old-3', 'old-0'])
  const created = await fetch(`${url}/tokens`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ id: 'old-0', type: 'token', data: 'twice' }),
  })
  expect(created.status).toBe(409)
  const made = await fetch(`${url}/tokens`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ type: 'token', data: 'new' }),
  })
  const { id } = (await made.json()) as { id: string }
  expect(await get(`/tokens/${id}`)).toMatchObject({ id, data: 'new' })
  expect(await server.end('SIGTERM')).toBe(0)
}

/** All but the two that say where the others are. */
function changePages(bytes: Buffer): void {
  for (let page = 2; page * 4_096 < bytes.length; page += 1) {
    bytes.fill(0xff, page * 4_096 + 20, page * 4_096 + 40)
  }
}

/** Of rows without a deadline, in every page: their uniques say another one then. */
function changeVersions(bytes: Buffer): void {
  const beginning = Buffer.from([1, 3, 0, 0, 0, 0, 1])
  for (let at = bytes.indexOf(beginning); at >= 0; at = bytes.indexOf(beginning, at + 1)) {
    bytes[at + beginning.length - 1] = 9
  }
}

async function expectRefused(data: string, old: Old, database: Uint8Array): Promise<void> {
  const ended = await upgrade(data)
  expect(ended.exitCode).toBe(1)
  expect(ended.stderr).toMatch(
    /^coffer: the vault in .* is damaged: restore it from a backup, then/,
  )
  expect(stampOf(data)).toBe(old.stamp)
  expect(readFileSync(databaseOf(data)).equals(database)).toBe(true)
}

describe.each([
  ['2', ofFormat2],
  ['3', ofFormat3],
])('a vault of format %s', (_, old) => {
  test.each(['serve', 'verify', 'doctor', 'compact'])('is refused by %s, unchanged', async name => {
    const data = makeOld(old)
    const before = readFileSync(databaseOf(data))
    const port = name === 'serve' ? ['--port', '0'] : []
    const ended = await runCoffer([name, '--data', data, ...port])
    expect(ended.exitCode).toBe(1)
    expect(ended.stderr + ended.stdout).toContain(
      'was written by an older coffer: run coffer upgrade',
    )
    expect(readFileSync(databaseOf(data)).equals(before)).toBe(true)
  })

  test('is upgraded, with all that was in it, and no second time', async () => {
    const data = makeOld(old)
    expect(await upgrade(data)).toEqual({ exitCode: 0, stdout: 'upgraded\n', stderr: '' })
    expect(stampOf(data)).toBe('coffer data folder, format 4\n')
    await expectAllThere(data, old)
    const database = readFileSync(databaseOf(data))
    const again = await upgrade(data)
    expect([again.exitCode, again.stdout]).toEqual([
      0,
      'nothing to do: the vault is of this format\n',
    ])
    expect(readFileSync(databaseOf(data)).equals(database)).toBe(true)
  })

  test.skipIf(process.getuid?.() !== 0)('keeps its owner, whoever upgrades it', async () => {
    const data = makeOld(old)
    const nobody = 65_534
    for (const name of ['', 'format', 'store', 'store/data.mdb']) {
      chownSync(join(data, name), nobody, nobody)
    }
    expect((await upgrade(data)).exitCode).toBe(0)
    for (const name of ['format', 'store/data.mdb']) {
      expect(statSync(join(data, name)).uid).toBe(nobody)
    }
  })

  test('is refused with another master key, and keeps its stamp', async () => {
    const data = makeOld(old)
    writeFileSync(join(data, 'master.key'), `${'0'.repeat(64)}\n`, { mode: 0o600 })
    const ended = await upgrade(data)
    expect([ended.exitCode, ended.stdout]).toEqual([1, ''])
    expect(ended.stderr).toContain('the master key is not the one of')
    expect(stampOf(data)).toBe(old.stamp)
  })

  test('that is damaged in its pages stays as it is', async () => {
    const database = Buffer.from(databaseIn(old))
    changePages(database)
    const data = makeOld(old, database)
    await expectRefused(data, old, database)
  })
})

test.each([
  ['coffer data folder, format 1\n', /was written by an older coffer: use that version/],
  ['coffer data folder, format 999999\n', /was written by a newer coffer: use that version/],
  ['something\n', /the format stamp in .* is damaged/],
])('a folder of the stamp %j is upgraded by nobody', async (stamp, says) => {
  const data = makeOld({ ...ofFormat3, stamp })
  const ended = await upgrade(data)
  expect([ended.exitCode, ended.stdout]).toEqual([1, ''])
  expect(ended.stderr).toMatch(says)
  expect(stampOf(data)).toBe(stamp)
})

describe('a vault of format 3', () => {
  test('gives tokens by ids that nobody chose', async () => {
    const data = makeOld(ofFormat3)
    expect((await upgrade(data)).exitCode).toBe(0)
    const server = await startCoffer(['serve', '--data', data, '--port', '0'])
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? ''
    const headers = { 'SVC-API-KEY': ofFormat3.key }
    const token = await (await fetch(`${url}/tokens/${ofFormat3.randomId}`, { headers })).json()
    expect(token).toMatchObject({ id: ofFormat3.randomId, data: 'random 0' })
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('with a damaged value in sound pages stays as it is', async () => {
    const data = makeOld(ofFormat3)
    const database = readFileSync(databaseOf(data))
    // Behind the head of a row: the last byte of its last sealed value.
    const store = await openLmdbStore({ path: join(data, 'store') })
    const row = [...store.everyRow()].findLast(({ parts }) => parts.length === 3)
    await store.close()
    const at = database.indexOf(Buffer.from(row?.parts[2] ?? []))
    expect(at).toBeGreaterThan(0)
    database[at] = (database[at] ?? 0) ^ 1
    await expectRefused(makeOld(ofFormat3, database), ofFormat3, database)
  })
})

describe('a vault of format 2', () => {
  test('whose upgrade ended before its stamp gets the stamp by another', async () => {
    const data = makeOld()
    expect((await upgrade(data)).exitCode).toBe(0)
    writeFileSync(join(data, 'format'), ofFormat2.stamp)
    expect((await runCoffer(['verify', '--data', data])).exitCode).toBe(1)
    expect(await upgrade(data)).toEqual({ exitCode: 0, stdout: 'upgraded\n', stderr: '' })
    await expectAllThere(data)
  })

  test('is whole whenever an upgrade is killed', async () => {
    const startedMs = performance.now()
    await upgrade(makeOld())
    const tookMs = performance.now() - startedMs
    for (let round = 0; round < 6; round += 1) {
      const data = makeOld()
      const child = Bun.spawn([...cofferCommand, 'upgrade', '--data', data], {
        stdout: 'ignore',
        stderr: 'ignore',
      })
      await Bun.sleep(tookMs * (0.3 + round / 8))
      child.kill('SIGKILL')
      await child.exited
      expect((await upgrade(data)).exitCode).toBe(0)
      await expectAllThere(data)
    }
  })

  test('that is damaged in the versions of its rows stays as it is', async () => {
    const database = Buffer.from(databaseIn(ofFormat2))
    changeVersions(database)
    await expectRefused(makeOld(ofFormat2, database), ofFormat2, database)
  })
})
