/**
 * `coffer compact` as a person runs it: the file of a vault after deletes, before and after it.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Keys } from '../../src/crypto/keyring.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { openVaultKeys } from '../../src/vault/vault.ts'
import { firstLeafOf, readPages } from '../store/data-file.ts'
import { cofferCommand, runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { openEveryRowIn } from '../support/raw-rows.ts'
import { until } from '../support/until.ts'

const permissions = ['create', 'read', 'update', 'delete', 'search', 'use'].map(
  name => `token:${name}`,
)
const numbers = Array.from({ length: 40 }, (_, index) => index)
const keptIds = numbers.filter(index => index % 2 === 0).map(index => `kept-${index}`)
const goneIds = numbers.filter(index => index % 2 === 1).map(index => `gone-${index}`)
/** Returns a token's data; some of it is too long for a page. */
const dataOf = (id: string): string => `data of ${id} `.repeat(id.endsWith('7') ? 900 : 3)

let root: string
/** A stopped vault that tests copy and never change. Half of its tokens were deleted. */
let made: string
let tenantId: string
let key: string
let keys: Keys
/** The sealed data of each token that was deleted, as it lay in the file before. */
let sealedBefore: readonly Uint8Array[]
/** The answer to each token that is kept. */
let answers: readonly string[]

const databaseOf = (data: string): string => join(data, 'store', 'data.mdb')

interface Api {
  send(method: string, path: string, body?: unknown, own?: string): Promise<Response>
}

async function serving(data: string, task: (api: Api) => Promise<void>): Promise<void> {
  const server = await startCoffer(['serve', '--data', data, '--port', '0'])
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? ''
  await task({
    send: (method, path, body, own = key) =>
      fetch(url + path, {
        method,
        headers: { 'SVC-API-KEY': own, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  })
  expect(await server.end('SIGTERM')).toBe(0)
}

const readKept = ({ send }: Api): Promise<string[]> =>
  Promise.all(keptIds.map(async id => (await send('GET', `/tokens/${id}`)).text()))

async function fill({ send }: Api): Promise<void> {
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  const body = { name: 'all', type: 'private', rules }
  const application = (await (await send('POST', '/applications', body)).json()) as { key: string }
  key = application.key
  const all = keptIds.flatMap((id, index) => [id, goneIds[index] ?? ''])
  for (const id of all) {
    const token = { id, type: 'token', data: dataOf(id), metadata: { of: id } }
    expect((await send('POST', '/tokens', token)).status).toBe(201)
  }
}

async function deleteHalf(api: Api): Promise<void> {
  const { send } = api
  for (const id of goneIds) expect((await send('DELETE', `/tokens/${id}`)).status).toBe(204)
  answers = await readKept(api)
}

beforeAll(async () => {
  root = temporaryFolder()
  made = join(root, 'made')
  const init = await runCoffer(['init', '--data', made, '--json'])
  ;({ tenant_id: tenantId, key } = JSON.parse(init.stdout))
  await serving(made, fill)
  const masterKey = Buffer.from(readFileSync(join(made, 'master.key'), 'latin1').trim(), 'hex')
  const store = await openLmdbStore({ path: join(made, 'store') })
  keys = await openVaultKeys(store, masterKey)
  await store.close()
  const gone = new Set(goneIds.map(id => JSON.stringify(dataOf(id))))
  sealedBefore = openEveryRowIn(readFileSync(databaseOf(made)), keys, tenantId)
    .filter(({ text }) => gone.has(text))
    .map(({ sealed }) => sealed)
  await serving(made, deleteHalf)
})

function copyOfMade(name: string): string {
  const copy = join(root, name)
  cpSync(made, copy, { recursive: true })
  return copy
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))

/** Returns all token data that folder and master key open: of the vault's tokens, and of others. */
const readByHand = (data: string): Set<string> =>
  new Set(
    filesIn(data).flatMap(file =>
      openEveryRowIn(readFileSync(file), keys, tenantId).map(({ text }) =>
        String(JSON.parse(text)),
      ),
    ),
  )

/** So short that a value which is overwritten in part leaves one piece whole. */
const piecesOf = (bytes: Uint8Array): Uint8Array[] =>
  Array.from({ length: Math.floor(bytes.length / 16) }, (_, at) =>
    bytes.subarray(at * 16, at * 16 + 16),
  )

const compact = (data: string, ...more: string[]): Promise<Ended> =>
  runCoffer(['compact', '--data', data, ...more])

const verify = (data: string): Promise<Ended> => runCoffer(['verify', '--data', data])

/** Every answer of a vault still holds, whatever happened to it. */
async function expectWhole(data: string): Promise<void> {
  expect((await verify(data)).exitCode).toBe(0)
  await serving(data, async api => {
    expect(await readKept(api)).toEqual([...answers])
    for (const id of goneIds) expect((await api.send('GET', `/tokens/${id}`)).status).toBe(404)
  })
}

describe('coffer compact', () => {
  // proves E8, S13
  test('leaves nothing that opens of what was deleted, in any file', async () => {
    const data = copyOfMade('attacked')
    const before = readByHand(data)
    for (const id of keptIds) expect(before.has(dataOf(id))).toBe(true)
    const found = goneIds.filter(id => before.has(dataOf(id)))
    expect(found.length).toBeGreaterThan(0)
    const { exitCode, stdout, stderr } = await compact(data)
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(
      /^compacted: \d+ bytes before, \d+ after\n {2}looked at .*: written anew\n$/,
    )
    expect([...readByHand(data)].sort()).toEqual(keptIds.map(dataOf).sort())
  })

  // proves E8, S13
  test('leaves no piece of what lay there sealed', async () => {
    const data = copyOfMade('in pieces')
    const piecesIn = (): number => {
      const files = filesIn(data).map(file => readFileSync(file))
      const isFound = (piece: Uint8Array) => files.some(file => file.includes(piece))
      return sealedBefore.flatMap(piecesOf).filter(isFound).length
    }
    expect(sealedBefore.length).toBeGreaterThanOrEqual(goneIds.length)
    expect(piecesIn()).toBeGreaterThan(0)
    await compact(data)
    expect(piecesIn()).toBe(0)
  })

  // proves E8
  test('keeps all that the vault answers, and is done after one time', async () => {
    const data = copyOfMade('kept')
    const { stdout } = await compact(data)
    const [before = 0, after = 0] = (stdout.match(/\d+/g) ?? []).slice(0, 2).map(Number)
    expect(before).toBe(statSync(databaseOf(made)).size)
    expect(after).toBe(statSync(databaseOf(data)).size)
    expect(after).toBeLessThan(before)
    const once = readFileSync(databaseOf(data))
    expect(await compact(data)).toEqual({
      exitCode: 0,
      stdout:
        `compacted: ${after} bytes before, ${after} after\n` +
        `  looked at ${databaseOf(data)}: written anew\n`,
      stderr: '',
    })
    expect(readFileSync(databaseOf(data)).equals(once)).toBe(true)
    await expectWhole(data)
  })

  test('leaves files for their owner alone, and nothing beside them', async () => {
    const data = copyOfMade('modes')
    const names = readdirSync(data)
    await compact(data)
    expect(readdirSync(data)).toEqual(names)
    expect(statSync(databaseOf(data)).mode & 0o777).toBe(0o600)
  })

  // Only root may give a file away.
  test.skipIf(process.getuid?.() !== 0)('keeps the owner of the file', async () => {
    const data = copyOfMade('owned')
    chownSync(databaseOf(data), 65_534, 65_534)
    expect((await compact(data)).exitCode).toBe(0)
    const { uid, gid } = statSync(databaseOf(data))
    expect([uid, gid]).toEqual([65_534, 65_534])
  })
})

/** One line on stderr, and the same file as before. */
async function expectSameFile(data: string, says: RegExp, more: string[] = []): Promise<void> {
  const before = statSync(databaseOf(data)).ino
  const { exitCode, stdout, stderr } = await compact(data, ...more)
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(stderr).toMatch(says)
  expect(statSync(databaseOf(data)).ino).toBe(before)
  expect(existsSync(join(data, 'compacting'))).toBe(false)
}

/** As `expectSameFile`, and the database is as it was. */
async function expectRefusal(data: string, says: RegExp, more: string[] = []): Promise<void> {
  const before = readFileSync(databaseOf(data))
  await expectSameFile(data, says, more)
  expect(readFileSync(databaseOf(data)).equals(before)).toBe(true)
}

describe('coffer compact changes nothing', () => {
  // proves E8.1
  test('while a server runs', async () => {
    const data = copyOfMade('served')
    const server = await startCoffer(['serve', '--data', data, '--port', '0'])
    // The server goes on to write: its audit log is signed.
    await expectSameFile(data, /another coffer runs/)
    expect(await server.end('SIGTERM')).toBe(0)
  })

  // proves E8.1
  test('under another master key', async () => {
    const data = copyOfMade('foreign')
    const file = join(root, 'other.key')
    writeFileSync(file, `${'ab'.repeat(32)}\n`, { mode: 0o600 })
    await expectRefusal(data, /the master key is not the one/, ['--master-key-file', file])
  })

  // proves E8.1
  test('of a damaged vault', async () => {
    const data = copyOfMade('damaged')
    const pages = readPages(join(data, 'store'))
    // Within the value of the second row.
    const at = pages.nodeAt(firstLeafOf(pages, 'rows'), 1) + 40
    pages.bytes.fill(0xa5, at, at + 4)
    pages.save()
    await expectRefusal(data, /is damaged/)
  })
})

describe('a coffer compact that is killed', () => {
  const leftovers = (data: string) => existsSync(join(data, 'compacting'))

  test('while it writes leaves the vault whole, and nothing behind the next start', async () => {
    const data = copyOfMade('killed while it writes')
    const command = [...cofferCommand, 'compact', '--data', data]
    const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'ignore' })
    await until(() => leftovers(data))
    child.kill('SIGKILL')
    await child.exited
    await expectWhole(data)
    expect(leftovers(data)).toBe(false)
  })

  // proves E8
  test('at any moment leaves the vault whole', async () => {
    const startedMs = performance.now()
    await compact(copyOfMade('measured'))
    const tookMs = performance.now() - startedMs
    for (let round = 1; round <= 4; round += 1) {
      const data = copyOfMade(`killed ${round}`)
      const command = [...cofferCommand, 'compact', '--data', data]
      const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'ignore' })
      await Bun.sleep(tookMs * (0.5 + round / 8))
      child.kill('SIGKILL')
      await child.exited
      await expectWhole(data)
      expect((await compact(data)).exitCode).toBe(0)
      expect([...readByHand(data)].sort()).toEqual(keptIds.map(dataOf).sort())
    }
  })

  test.each(['serve', 'app create', 'compact'])('leaves nothing that %s keeps', async name => {
    const data = copyOfMade(`left for ${name}`)
    mkdirSync(join(data, 'compacting'), { mode: 0o700 })
    cpSync(databaseOf(data), join(data, 'compacting/data.mdb'))
    if (name === 'serve') await serving(data, async () => {})
    else expect((await runCoffer([...name.split(' '), '--data', data])).exitCode).toBe(0)
    expect(leftovers(data)).toBe(false)
  })
})
