/**
 * Proof that the control socket asks for: it is open to every program of the user that serves, and
 * such a program need not be able to read the master key.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesOfHex, hexOf, utf8 } from '../../src/lib/bytes.ts'
import { callControl, findIn, startControl } from '../../src/server/listen/control.ts'
import { proofOf, type ProvenRequest } from '../../src/vault/keyring/proof.ts'
import { proofSecretOf } from '../../src/vault/keyring/live-keyring.ts'
import { runCoffer, startCoffer, type Ended, type Running } from '../support/coffer-process.ts'
import { askOnce } from '../support/connection.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'

/** Calls that tell sealed data, or that make or change credentials or keys. */
const guarded: readonly (readonly [name: string, input: Readonly<Record<string, string>>])[] = [
  ['app-create', { name: 'not asked for' }],
  ['app-list', {}],
  ['app-regenerate', { id: 'none' }],
  ['app-delete', { id: 'none' }],
  ['app-key-list', { id: 'none' }],
  ['app-key-add', { id: 'none' }],
  ['app-key-revoke', { id: 'none', key: 'none' }],
  ['session-list', {}],
  ['session-end', { id: 'none' }],
  ['keys-prove', {}],
  ['keys-rotate', {}],
  ['keys-rekey', { file: 'none' }],
  ['keys-retire', {}],
  ['log-digest', {}],
  ['audit-reindex', {}],
]

let root: string
let made: string
let managerKey: string

beforeAll(async () => {
  root = temporaryFolder()
  made = join(root, 'made')
  const { stdout } = await runCoffer(['init', '--data', made, '--json'])
  managerKey = (JSON.parse(stdout) as { key: string }).key
})

interface Vault {
  readonly data: string
  /** File of the master key, outside of the folder. */
  readonly keyFile: string
  readonly control: string
  /** Path of the HTTP socket. */
  readonly socket: string
}

function vaultNamed(name: string): Vault {
  const data = join(root, name)
  cpSync(made, data, { recursive: true })
  const keyFile = join(root, `${name}.key`)
  renameSync(join(data, 'master.key'), keyFile)
  return { data, keyFile, control: join(data, 'control'), socket: join(root, `${name}.sock`) }
}

const serve = ({ data, keyFile, socket }: Vault): Promise<Running> =>
  startCoffer(['serve', '--data', data, '--master-key-file', keyFile, '--socket', socket])

const withKey = ({ data, keyFile }: Vault, ...words: readonly string[]): Promise<Ended> =>
  runCoffer([...words, '--data', data, '--master-key-file', keyFile, '--json'])

function facts<T>({ exitCode, stdout, stderr }: Ended): T {
  expect([exitCode, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as T
}

async function namesOf(vault: Vault): Promise<readonly string[]> {
  const ended = await withKey(vault, 'app', 'list')
  return facts<{ applications: { name: string }[] }>(ended).applications.map(({ name }) => name)
}

/** Sends as a program that speaks to the socket by itself. @returns the text of its answer */
async function send(
  control: string,
  name: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const url = `http://control/${name}`
  return (await fetch(url, { unix: control, method: 'POST', body, headers })).text()
}

async function expectGuarded(control: string): Promise<void> {
  for (const [name, input] of guarded) {
    const answer = await send(control, name, JSON.stringify(input))
    expect([name, answer]).toEqual([name, expect.stringContaining('expected a proof of the mas')])
  }
}

describe('a program that may open the socket and has no key', () => {
  // proves E24.1, S24
  test.each(['apart from the folder', 'in the folder'])(
    'has nothing done with credentials or keys, with the master key %s',
    async where => {
      const vault = vaultNamed(where.slice(0, 5).trim())
      if (where === 'in the folder') cpSync(vault.keyFile, join(vault.data, 'master.key'))
      const server = await serve(vault)
      await expectGuarded(vault.control)
      expect(await namesOf(vault)).toEqual(['First management application'])
      await server.end('SIGTERM')
      const log = await server.stderr
      expect(log.match(/"event":"control_refused","operation":"app-create"/g)?.length).toBe(1)
      expect(log).not.toMatch(/key_(?!source")/)
    },
  )

  test('is told what the files tell, and no name', async () => {
    const vault = vaultNamed('open')
    const server = await serve(vault)
    for (const name of ['status', 'keys-status', 'seal-status']) {
      const answer = await send(vault.control, name, '{}')
      expect(answer).toContain('{"done":')
      expect(answer).not.toContain('management')
    }
    expect(
      facts(await runCoffer(['keys', 'status', '--data', vault.data, '--json'])),
    ).toMatchObject({ master_key: 0 })
    await server.end('SIGTERM')
  })

  test('is told so by the command, in one line', async () => {
    const vault = vaultNamed('told')
    const server = await serve(vault)
    const { exitCode, stdout, stderr } = await runCoffer(['app', 'create', '--data', vault.data])
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^coffer: the server asks for its master key: say where it is[^\n]+\n$/)
    expect(stderr).toContain('the key of a manager in COFFER_KEY')
    // A command that needs the master key itself neither names another way nor tries one.
    const rotate = ['keys', 'rotate', '--data', vault.data]
    const bare = await runCoffer(rotate, { env: { COFFER_KEY: 'key_none' } })
    expect([bare.exitCode, bare.stdout, bare.stderr]).toEqual([
      1,
      '',
      'coffer: the server asks for its master key: say where it is, such as by --master-key-file\n',
    ])
    writeFileSync(`${vault.keyFile}.wrong`, `${'a'.repeat(64)}\n`, { mode: 0o600 })
    const wrong = { ...vault, keyFile: `${vault.keyFile}.wrong` }
    const refused = await withKey(wrong, 'app', 'create')
    expect([refused.exitCode, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toContain('not the one of this vault: name that of its init, or last')
    expect(await namesOf(vault)).toHaveLength(1)
    await server.end('SIGTERM')
  })
})

describe('the master key is proved', () => {
  test('from a file and from the environment, by each command that asks for it', async () => {
    const vault = vaultNamed('ways')
    const server = await serve(vault)
    const { key, application_id: id } = facts<Record<string, string>>(
      await withKey(vault, 'app', 'create'),
    )
    expect(key).toMatch(/^key_/)
    const env = { COFFER_MASTER_KEY: readFileSync(vault.keyFile, 'utf8').trim() }
    const words = ['app', 'delete', String(id), '--data', vault.data, '--json']
    expect(facts(await runCoffer(words, { env }))).toEqual({ application_id: id, deleted: true })
    for (const name of ['rotate', 'retire', 'rekey']) {
      expect((await withKey(vault, 'keys', name)).exitCode).toBe(0)
    }
    expect(await namesOf(vault)).toHaveLength(1)
    await server.end('SIGTERM')
  })

  // proves E24.1
  test('by a passphrase', async () => {
    const data = join(root, 'phrase')
    const input = 'a passphrase that is long enough\n'
    const own = ['--data', data, '--passphrase-fd', '0', '--json']
    expect((await runCoffer(['init', ...own], { input })).exitCode).toBe(0)
    const serving = ['serve', '--data', data, '--passphrase-fd', '0', '--port', '0']
    const server = await startCoffer(serving, { input })
    await expectGuarded(join(data, 'control'))
    const { key } = facts<{ key: string }>(await runCoffer(['app', 'create', ...own], { input }))
    expect(key).toMatch(/^key_/)
    await server.end('SIGTERM')
  })

  // proves S24
  test('where workers serve', async () => {
    const vault = vaultNamed('workers')
    const { data, keyFile } = vault
    const words = ['--data', data, '--master-key-file', keyFile, '--port', '0', '--workers', '3']
    const server = await startCoffer(['serve', ...words])
    await expectGuarded(vault.control)
    expect((await withKey(vault, 'app', 'create')).exitCode).toBe(0)
    expect(await namesOf(vault)).toHaveLength(2)
    await server.end('SIGTERM')
  })

  // .ci/run installs it.
  // proves S24
  test.skipIf(!isPostgresThere)('where PostgreSQL holds the vault', async () => {
    const { url } = await sharedPostgres()
    const data = join(root, 'database')
    const keyFile = join(root, 'database.key')
    const vault = { data, keyFile, control: join(data, 'control'), socket: `${data}.sock` }
    const words = ['--data', data, '--master-key-file', keyFile, '--store', url(nextSchema())]
    expect((await runCoffer(['init', ...words])).exitCode).toBe(0)
    const server = await serve(vault)
    await expectGuarded(vault.control)
    expect((await withKey(vault, 'app', 'create')).exitCode).toBe(0)
    expect(await namesOf(vault)).toHaveLength(2)
    await server.end('SIGTERM')
  })
})

describe('a proof', () => {
  const name = 'app-create'
  const body = '{"name":"proved"}'

  /** Makes the proof that a command would, by the challenge of the server. */
  async function proofFor(vault: Vault, about: { name?: string; body?: string } = {}) {
    const offered = await callControl(vault.control, 'challenge', {})
    const secret = proofSecretOf(bytesOfHex(readFileSync(vault.keyFile, 'utf8').trim()))
    const asked: ProvenRequest = {
      challenge: bytesOfHex(String(offered?.['challenge'])),
      nonce: new Uint8Array(32).fill(7),
      name: about.name ?? name,
      body: utf8(about.body ?? body),
    }
    return {
      challenge: hexOf(asked.challenge),
      nonce: hexOf(asked.nonce),
      proof: hexOf(proofOf(secret, asked)),
    }
  }

  // proves E24.2, S25
  test('counts once, for one operation and one input', async () => {
    const vault = vaultNamed('once')
    const server = await serve(vault)
    const proof = await proofFor(vault)
    expect(await send(vault.control, name, body, proof)).toContain('"sealed"')
    const refused = /"failed":"the master key is not the one/
    expect(await send(vault.control, name, body, proof)).toMatch(refused)
    const other = await proofFor(vault, { body: '{"name":"other"}' })
    expect(await send(vault.control, name, body, other)).toMatch(refused)
    const list = await proofFor(vault, { name: 'app-list' })
    expect(await send(vault.control, name, body, list)).toMatch(refused)
    const own = { ...(await proofFor(vault)), challenge: '00'.repeat(32) }
    expect(await send(vault.control, name, body, own)).toMatch(refused)
    for (const wrong of ['', 'zz', '00'.repeat(31), '00'.repeat(32)]) {
      const made = { ...(await proofFor(vault)), proof: wrong }
      expect(await send(vault.control, name, body, made)).toMatch(refused)
    }
    const short = { ...(await proofFor(vault)), nonce: '07' }
    expect(await send(vault.control, name, body, short)).toMatch(refused)
    expect(await namesOf(vault)).toEqual(['proved', 'First management application'])
    await server.end('SIGTERM')
  })

  // proves E24.3, S25
  test('shows a program in between neither the new key nor how to ask again', async () => {
    const vault = vaultNamed('between')
    const server = await serve(vault)
    const real = join(vault.data, 'moved')
    renameSync(vault.control, real)
    const heard: string[] = []
    const relay = startControl(
      vault.control,
      which => async (_, __, sent) => {
        const headers: Record<string, string> = {}
        for (const each of ['challenge', 'nonce', 'proof'] as const) {
          const value = sent.header(each)
          if (value !== null) headers[each] = value
        }
        heard.push(JSON.stringify(headers))
        const told = await callControl(real, which, sent.body, () => {}, headers)
        heard.push(JSON.stringify(told))
        return told ?? {}
      },
      () => {},
    )
    const { key } = facts<{ key: string }>(await withKey(vault, 'app', 'create'))
    expect(key).toMatch(/^key_/)
    expect(heard.join()).not.toContain(key)
    expect(heard.join()).not.toContain(readFileSync(vault.keyFile, 'utf8').trim())
    await relay.stop()
    await server.end('SIGTERM')
  })

  // proves E24.3, S25
  test('is answered by no program that has not the master key', async () => {
    const vault = vaultNamed('false')
    for (const answer of [{ key: 'key_ofAnother' }, { sealed: '00'.repeat(48) }]) {
      const challenge = async () => ({ challenge: '11'.repeat(32) })
      const impostor = startControl(
        vault.control,
        findIn({ challenge, 'app-create': async () => answer }),
        () => {},
      )
      const { exitCode, stdout, stderr } = await withKey(vault, 'app', 'create')
      expect([exitCode, stdout]).toEqual([1, ''])
      expect(stderr).toContain('what answered has not the master key')
      await impostor.stop()
    }
    rmSync(vault.control, { force: true })
  })

  // proves E24.9
  test.each(['{"done":null}', '{"done":[]}', '{"progress":"1"}', 'null', '[]', '{}', 'no JSON'])(
    'is asked for by no program that says %s',
    async says => {
      const { data, control } = vaultNamed('none')
      const impostor = Bun.serve({ unix: control, fetch: () => new Response(`${says}\n`) })
      for (const words of [['status'], ['keys', 'status'], ['app', 'list']]) {
        const { exitCode, stdout, stderr } = await runCoffer([...words, '--data', data])
        expect([exitCode, stdout]).toEqual([1, ''])
        expect(stderr).toBe('coffer: what answers is no server of coffer: see what listens there\n')
      }
      await impostor.stop(true)
      rmSync(control, { force: true })
    },
  )
})

describe('the key of a manager in its place', () => {
  const withApiKey = ({ data }: Vault, key: string, ...words: readonly string[]) =>
    runCoffer([...words, '--data', data, '--json'], { env: { COFFER_KEY: key } })

  async function keyWith(vault: Vault, body: object): Promise<string> {
    const asked = { key: managerKey, body: { name: 'asked for', ...body } }
    const { text } = await askOnce({ unix: vault.socket }, 'POST', '/applications', asked)
    return String((JSON.parse(text) as Record<string, unknown>)['key'])
  }

  // proves E24.4, S27
  test('does what its routes would let it do, and no more', async () => {
    const vault = vaultNamed('manager')
    const server = await serve(vault)
    const permissions = ['application:create', 'application:read']
    const maker = await keyWith(vault, { type: 'management', permissions })
    const page = ['--type', 'public', '--permission', 'token:create']
    const created = facts<Record<string, string>>(
      await withApiKey(vault, maker, 'app', 'create', ...page),
    )
    expect(created['key']).toMatch(/^key_/)
    const { stdout } = await withApiKey(vault, managerKey, 'app', 'list')
    expect(stdout).toContain(String(created['application_id']))
    const expectRefused = async (key: string, says: string, ...words: readonly string[]) => {
      const ended = await withApiKey(vault, key, ...words)
      expect([ended.exitCode, ended.stdout]).toEqual([1, ''])
      expect(ended.stderr).toContain(says)
    }
    await expectRefused(maker, 'permissions that the caller holds itself', 'app', 'create')
    const id = String(created['application_id'])
    await expectRefused(maker, 'with application:delete', 'app', 'delete', id)
    await expectRefused(maker, 'with session:read', 'session', 'list')
    await expectRefused(String(created['key']), 'management application with', 'app', 'list')
    await expectRefused('key_unknown', 'expected a live API key', 'app', 'list')
    for (const name of ['rotate', 'retire']) {
      const answer = await send(vault.control, `keys-${name}`, '{}', { 'svc-api-key': managerKey })
      expect(answer).toContain('expected a proof of the master key')
      await expectRefused(managerKey, 'the server asks for its master key', 'keys', name)
    }
    await server.end('SIGTERM')
    const logged = await server.stderr
    expect(logged).not.toMatch(/key_(?!id"|source")/)
    const lines = logged.trimEnd().split('\n')
    const done = lines.map(line => JSON.parse(line) as Record<string, unknown>)
    const asked = { peer_uid: process.getuid?.(), peer_pid: expect.any(Number) }
    expect(done.find(({ event }) => event === 'controlled')).toMatchObject(asked)
    expect(done.find(({ event }) => event === 'control_refused')).toMatchObject(asked)
    expect(done.find(({ event }) => event === 'administered')).toMatchObject({
      ...asked,
      operation: 'app-create',
      application_id: expect.stringMatching(/^[\da-f-]{36}$/),
      key_id: expect.stringMatching(/^[\da-f-]{36}$/),
      object_id: created['application_id'],
    })
  })

  // proves E24.4
  test('that may not list learns nothing of the application that has a name', async () => {
    const vault = vaultNamed('unlisted')
    const server = await serve(vault)
    const maker = await keyWith(vault, { type: 'management', permissions: ['application:create'] })
    const words = ['--type', 'public', '--permission', 'token:create']
    for (const name of ['asked for', 'nobody']) {
      const named = ['app', 'create', '--if-absent', name, ...words]
      const { stdout, stderr } = await withApiKey(vault, maker, ...named)
      expect([stdout, stderr]).toEqual(['', expect.stringContaining('with application:read')])
    }
    await server.end('SIGTERM')
  })
})
