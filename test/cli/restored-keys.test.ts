/**
 * API keys and sessions of a restored backup: the question to the operator, what `--revoke-keys`
 * ends and leaves, and that no folder counts before its key was told.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { cofferCommand, runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

type Body = Record<string, unknown>

interface Asked {
  readonly key: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

let root: string
let masterKey: string
let manager: { key: string; application_id: string; tenant_id: string }
let file: string
/** Keys of an application that reveals and of a shop, and their ids. */
const keys = { reader: '', further: '', shop: '', session: '' }
const ids = { reader: '', shop: '', token: '', passing: '' }
/** End of the token that had a deadline in the backup. */
let endsAtMs = 0
const onceBody = { name: 'once', type: 'public', permissions: ['token:create'] }

const permissions = ['create', 'read', 'search', 'delete'].map(name => `token:${name}`)
const rule = { description: 'all', priority: 1, container: '/', transform: 'reveal', permissions }

/** Serves a folder while something is asked of it. */
async function beside<T>(
  data: string,
  ask: (one: (method: string, path: string, asked: Asked) => Promise<Response>) => Promise<T>,
  ...more: readonly string[]
): Promise<T> {
  const words = ['--data', data, '--master-key-file', masterKey, '--port', '0']
  const server = await startCoffer(['serve', ...words, ...more])
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? ''
  try {
    return await ask((method, path, { key, body, headers }) =>
      fetch(url + path, {
        method,
        headers: { ...headers, 'SVC-API-KEY': key, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
  } finally {
    expect(await server.end('SIGTERM')).toBe(0)
  }
}

const bodyOf = async (answer: Response): Promise<Body> => (await answer.json()) as Body

beforeAll(async () => {
  root = temporaryFolder()
  masterKey = join(root, 'master.key')
  file = join(root, 'one.backup')
  const data = join(root, 'vault')
  const words = ['--data', data, '--master-key-file', masterKey]
  const made = await runCoffer(['init', ...words, '--json'])
  manager = JSON.parse(made.stdout) as typeof manager
  await beside(data, async ask => {
    const key = manager.key
    const make = async (body: object) => bodyOf(await ask('POST', '/applications', { key, body }))
    const reader = await make({ name: 'reader', type: 'private', rules: [rule] })
    const shop = await make({ name: 'shop', type: 'public', permissions: ['token:create'] })
    ids.reader = String(reader['id'])
    ids.shop = String(shop['id'])
    keys.reader = String(reader['key'])
    keys.shop = String(shop['key'])
    const more = await ask('POST', `/applications/${ids.reader}/keys`, { key, body: {} })
    keys.further = String((await bodyOf(more))['key'])
    const headers = { 'SVC-IDEMPOTENCY-KEY': 'made-once' }
    const once = await ask('POST', '/applications', { key, body: onceBody, headers })
    expect(once.status).toBe(201)
    const session = await bodyOf(await ask('POST', '/sessions', { key: keys.shop }))
    keys.session = String(session['session_key'])
    const grants = { nonce: session['nonce'], rules: [rule] }
    const authorized = await ask('POST', '/sessions/authorize', { key: keys.reader, body: grants })
    expect(authorized.status).toBe(200)
    const token = { type: 'token', data: 'planted' }
    ids.token = String(
      (await bodyOf(await ask('POST', '/tokens', { key: keys.reader, body: token })))['id'],
    )
    endsAtMs = Date.now() + 15_000
    const passing = { ...token, expires_at: new Date(endsAtMs).toISOString() }
    const ends = await ask('POST', '/tokens', { key: keys.reader, body: passing })
    ids.passing = String((await bodyOf(ends))['id'])
    const shown = await ask('GET', `/tokens/${ids.token}`, { key: keys.session })
    expect(shown.status).toBe(200)
  })
  expect((await runCoffer(['backup', ...words, '--to', file])).exitCode).toBe(0)
}, 300_000)

const restore = (data: string, ...more: readonly string[]): Promise<Ended> =>
  runCoffer(['restore', file, '--data', data, '--master-key-file', masterKey, ...more])

function expectFailure(ended: Ended, exitCode: number, says: RegExp): void {
  expect([ended.exitCode, ended.stdout]).toEqual([exitCode, ''])
  expect(ended.stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(ended.stderr).toMatch(says)
}

describe('a script says what becomes of the keys', () => {
  const both = ['--keep-keys', '--revoke-keys']
  // proves S15
  test.each([
    ['none of both flags', [], /say --revoke-keys to end .*, or --keep-keys/],
    ['none of both, for JSON', ['--json'], /say --revoke-keys to end .*, or --keep-keys/],
    ['both of them', both, /say one of --keep-keys and --revoke-keys/],
    ['a file for a key that is not made', ['--keep-keys', '--key-file', 'x'], /--key-file: expec/],
    ['one beside a look', ['--verify-only', '--revoke-keys'], /--verify-only: nothing is made/],
    ['the other beside a look', ['--verify-only', '--keep-keys'], /--verify-only: nothing is made/],
  ])('and is refused with %s', async (_, more, says) => {
    const folder = temporaryFolder()
    expectFailure(await restore(join(folder, 'restored'), ...more), 2, says)
    expect(readdirSync(folder)).toEqual([])
  })

  test('keeping them brings back every key and session', async () => {
    const data = join(temporaryFolder(), 'restored')
    const ended = await restore(data, '--keep-keys')
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ended.stdout).not.toContain('key_')
    await beside(data, async ask => {
      for (const key of [keys.reader, keys.further, keys.session]) {
        expect((await ask('GET', `/tokens/${ids.token}`, { key })).status).toBe(200)
      }
    })
  })
})

test('a token whose deadline passed since the backup stays gone', async () => {
  const data = join(temporaryFolder(), 'restored')
  await Bun.sleep(Math.max(0, endsAtMs - Date.now()))
  expect((await restore(data, '--keep-keys')).exitCode).toBe(0)
  await beside(data, async ask => {
    const key = keys.reader
    expect((await ask('GET', `/tokens/${ids.token}`, { key })).status).toBe(200)
    expect((await ask('GET', `/tokens/${ids.passing}`, { key })).status).toBe(404)
  })
})

/** Runs a restore at a terminal, which types an answer when it is asked. */
async function atTerminal(data: string, answer: string) {
  let shown = ''
  const words = ['restore', file, '--data', data, '--master-key-file', masterKey]
  const child = Bun.spawn([...cofferCommand, ...words], {
    env: { PATH: process.env['PATH'] },
    terminal: {
      cols: 200,
      rows: 24,
      data(terminal, bytes) {
        shown += Buffer.from(bytes).toString('latin1')
        if (shown.endsWith('[Y/n] ')) terminal.write(answer)
      },
    },
  })
  return { exitCode: await child.exited, shown }
}

test.each([
  ['nothing', '\r', true],
  ['yes', 'Yes\r', true],
  ['no', 'n\r', false],
])('a person at a terminal is asked, and answers %s', async (_, answer, isRevoked) => {
  const data = join(temporaryFolder(), 'restored')
  const { exitCode, shown } = await atTerminal(data, answer)
  expect(exitCode).toBe(0)
  expect(shown).toMatch(/^End all API keys and sessions of the backup, .*\? \[Y\/n\] /)
  expect(shown.includes('revoked: 5 API keys and 1 sessions')).toBe(isRevoked)
  const status = await beside(data, async ask => {
    return (await ask('GET', `/tokens/${ids.token}`, { key: keys.reader })).status
  })
  expect(status).toBe(isRevoked ? 401 : 200)
})

test('a person whose answer is none has nothing restored', async () => {
  const folder = temporaryFolder()
  for (const answer of ['perhaps\r', '\x04']) {
    const { exitCode, shown } = await atTerminal(join(folder, 'restored'), answer)
    expect([exitCode, shown]).toEqual([2, expect.stringContaining('say --revoke-keys')])
    expect(readdirSync(folder)).toEqual([])
  }
})

describe('--revoke-keys', () => {
  let data: string
  let told: { managers: readonly (typeof manager)[]; revoked: object }

  beforeAll(async () => {
    data = join(temporaryFolder(), 'restored')
    const ended = await restore(data, '--revoke-keys', '--json')
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
    told = JSON.parse(ended.stdout) as typeof told
  })

  const newKey = () => told.managers[0]?.key ?? ''

  // proves E8.3, S15
  test.each([[[]], [['--workers', '3']]])('ends every key and session (%p)', async more => {
    expect(told.revoked).toEqual({ keys: 5, sessions: 1, webhooks: 0 })
    expect(told.managers).toMatchObject([{ tenant_id: manager.tenant_id }])
    await beside(
      data,
      async ask => {
        for (const key of [manager.key, ...Object.values(keys)]) {
          for (const path of [`/tokens/${ids.token}`, '/applications', '/tenants/self']) {
            expect((await ask('GET', path, { key })).status).toBe(401)
          }
        }
        const sessions = await bodyOf(await ask('GET', '/sessions', { key: newKey() }))
        expect(sessions['data']).toEqual([])
      },
      ...more,
    )
  })

  test('leaves applications as they were, which can be given a key again', async () => {
    await beside(data, async ask => {
      const own = await bodyOf(await ask('GET', '/applications/key', { key: newKey() }))
      expect(own).toMatchObject({ id: told.managers[0]?.application_id, type: 'management' })
      const path = `/applications/${ids.reader}`
      const left = await bodyOf(await ask('GET', path, { key: newKey() }))
      expect(left).toMatchObject({ name: 'reader', type: 'private', rules: [rule] })
      const none = await ask('GET', `${path}/keys`, { key: newKey() })
      expect(await none.json()).toEqual([])
      const made = await bodyOf(await ask('POST', `${path}/regenerate`, { key: newKey() }))
      const key = String(made['key'])
      const token = await bodyOf(await ask('GET', `/tokens/${ids.token}`, { key }))
      expect(token['data']).toBe('planted')
      expect((await ask('GET', `/tokens/${ids.token}`, { key: keys.reader })).status).toBe(401)
    })
  })

  // proves E8.3
  test('leaves nothing by which a repetition tells a key', async () => {
    const words = ['--data', data, '--master-key-file', masterKey, '--json']
    const again = await runCoffer(['app', 'regenerate', manager.application_id, ...words])
    const { key } = JSON.parse(again.stdout) as { key: string }
    const headers = { 'SVC-IDEMPOTENCY-KEY': 'made-once' }
    await beside(data, async ask => {
      const refused = await ask('POST', '/applications', {
        key: manager.key,
        body: onceBody,
        headers,
      })
      expect(refused.status).toBe(401)
      const repeated = await ask('POST', '/applications', { key, body: onceBody, headers })
      expect(repeated.status).toBe(409)
      expect(await repeated.text()).not.toContain('key_')
    })
  })

  test('leaves a vault that is sound', async () => {
    const words = ['--data', data, '--master-key-file', masterKey]
    expect(await runCoffer(['verify', ...words])).toMatchObject({ exitCode: 0, stderr: '' })
  })

  test('writes the new key to a file of its own, and prints none', async () => {
    const folder = temporaryFolder()
    const [restored, keyFile] = [join(folder, 'restored'), join(folder, 'manager.key')]
    const ended = await restore(restored, '--revoke-keys', '--key-file', keyFile)
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ended.stdout).not.toContain('key_')
    expect(ended.stdout).toContain(`Its key is in               ${keyFile}`)
    expect(statSync(keyFile).mode & 0o777).toBe(0o600)
    const key = readFileSync(keyFile, 'latin1').trim()
    const status = await beside(restored, async ask => {
      return (await ask('GET', '/applications', { key })).status
    })
    expect(status).toBe(200)
    const again = join(folder, 'again')
    const taken = await restore(again, '--revoke-keys', '--key-file', keyFile)
    expectFailure(taken, 1, /a file is at .* already/)
    expect(existsSync(again)).toBe(false)
  })

  test('restores nothing if its new key cannot be told', async () => {
    const folder = temporaryFolder()
    const data2 = join(folder, 'restored')
    const words = ['--data', data2, '--master-key-file', masterKey, '--revoke-keys']
    const full = ['sh', '-c', 'exec "$@" > /dev/full', 'sh', ...cofferCommand]
    const child = Bun.spawn([...full, 'restore', file, ...words], {
      stdin: 'ignore',
      stderr: 'pipe',
    })
    const stderr = await new Response(child.stderr).text()
    expect(await child.exited).toBe(1)
    expect(stderr).toMatch(
      /^coffer: the new key could not be told, so nothing was restored: [^\n]+\n$/,
    )
    expect(readdirSync(folder)).toEqual([])
  })

  // proves S15
  test('is no folder where it is killed once the key is in its file', async () => {
    const folder = temporaryFolder()
    const [restored, keyFile] = [join(folder, 'restored'), join(folder, 'manager.key')]
    const words = ['--data', restored, '--master-key-file', masterKey, '--revoke-keys']
    // A full pipe holds it where it tells of the key.
    const held = 'mkfifo "$0" && exec 3<>"$0" && head -c 65536 /dev/zero >&3 && exec "$@" >&3'
    const command = [...cofferCommand, 'restore', file, ...words, '--key-file', keyFile]
    const child = Bun.spawn(['bash', '-c', held, join(folder, 'pipe'), ...command], {
      stdin: 'ignore',
      stdout: 'ignore',
    })
    while (!existsSync(keyFile) || statSync(keyFile).size === 0) {
      expect(child.exitCode).toBeNull()
      await Bun.sleep(10)
    }
    expect(existsSync(restored)).toBe(false)
    child.kill('SIGKILL')
    await child.exited
    expect(child.signalCode).toBe('SIGKILL')
    expect(existsSync(restored)).toBe(false)
    expect((await restore(restored, '--revoke-keys')).exitCode).toBe(0)
  })
})
