/**
 * The control socket, and the commands that go through it.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { idleSecondsMax } from '../../src/limits/limits.ts'
import { callControl, findIn, startControl } from '../../src/server/listen/control.ts'
import { openEnvironment } from '../../src/store/lmdb/environment.ts'
import { runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { requestOf } from '../support/vault.ts'

let root: string
let made: string
let manager: string

beforeAll(async () => {
  root = temporaryFolder()
  made = join(root, 'made')
  const { stdout } = await runCoffer(['init', '--data', made, '--json'])
  manager = (JSON.parse(stdout) as { key: string }).key
})

function copyOfMade(name: string): string {
  const copy = join(root, name)
  cpSync(made, copy, { recursive: true })
  return copy
}

async function json<T>(ended: Promise<Ended>): Promise<T> {
  const { exitCode, stdout, stderr } = await ended
  expect([exitCode, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as T
}

function expectFailure({ exitCode, stdout, stderr }: Ended, says: RegExp): void {
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(stderr).toMatch(says)
}

interface Application {
  readonly id: string
  readonly type: string
}

const commands = (data: string) => ({
  apps: async () =>
    (
      await json<{ applications: Application[] }>(
        runCoffer(['app', 'list', '--data', data, '--json']),
      )
    ).applications,
  run: (...words: readonly string[]) => runCoffer([...words, '--data', data, '--json']),
})

describe.each(['beside a server', 'without one'])('commands %s', where => {
  test('list, regenerate and delete applications, and keep the last manager', async () => {
    const data = copyOfMade(where.slice(0, 6))
    const socket = join(root, `${where.slice(0, 6)}.sock`)
    const server =
      where === 'without one'
        ? undefined
        : await startCoffer(['serve', '--data', data, '--socket', socket])
    const { apps, run } = commands(data)
    const [first] = await apps()
    expectFailure(
      await run('app', 'delete', String(first?.id)),
      /last management application .*: create another first/,
    )
    const { application_id: id } = await json<{ application_id: string }>(run('app', 'create'))
    expect((await apps()).map(each => each.id)).toEqual([id, String(first?.id)])
    const added = await json<Record<string, string>>(
      run('app', 'key', 'add', id, '--expires-at', '2099-01-31T12:00:00Z'),
    )
    expect(added['key']).toMatch(/^key_/)
    const live = async () =>
      (await json<{ keys: Record<string, string>[] }>(run('app', 'key', 'list', id))).keys
    const [newest, first2] = await live()
    expect(newest).toMatchObject({ id: added['id'], expires_at: '2099-01-31T12:00:00.000+00:00' })
    expect(Object.keys(newest ?? {})).not.toContain('key')
    const works = async () =>
      fetch(requestOf('GET', '/applications/key', { key: added['key'] ?? '' }), { unix: socket })
    if (server !== undefined) expect((await works()).status).toBe(200)
    expect(await json(run('app', 'key', 'revoke', id, added['id'] ?? ''))).toEqual({
      application_id: id,
      id: added['id'],
      revoked: true,
    })
    if (server !== undefined) expect((await works()).status).toBe(401)
    expect(await live()).toEqual([first2 ?? {}])
    expectFailure(await run('app', 'key', 'revoke', id, added['id'] ?? ''), /no such key/)
    const past = ['--expires-at', '2001-01-01T00:00:00Z']
    expectFailure(await run('app', 'key', 'add', id, ...past), /expires_at/)
    const keyFile = join(root, `${where.slice(0, 6)}.key`)
    const again = run('app', 'regenerate', id, '--key-file', keyFile)
    expect(await json(again)).toMatchObject({ application_id: id, key_file: keyFile })
    expect((await again).stdout).not.toContain('key_"')
    const key = readFileSync(keyFile, 'utf8').trim()
    expect(key).toMatch(/^key_/)
    // A file that is there is left as it is, and so is the key.
    expectFailure(await run('app', 'regenerate', id, '--key-file', keyFile), /choose another/)
    expect(await json(run('app', 'delete', id))).toEqual({ application_id: id, deleted: true })
    expectFailure(await run('app', 'delete', id), /no such application/)
    expectFailure(await run('session', 'end', id), /no such session/)
    if (server === undefined) return
    const ask = { key }
    expect((await fetch(requestOf('GET', '/applications', ask), { unix: socket })).status).toBe(401)
    await server.end('SIGTERM')
    expect(await server.stderr).not.toMatch(/key_\w{20}/)
  })
})

test('a name reaches the terminal as letters alone', async () => {
  const data = copyOfMade('names')
  const socket = join(root, 'names.sock')
  const server = await startCoffer(['serve', '--data', data, '--socket', socket])
  const name = 'a\u001b]0;title\u0007\nb\u202ec\u009bd'
  const body = { name, type: 'public', permissions: ['token:create'] }
  const asked = requestOf('POST', '/applications', { key: manager, body })
  expect((await fetch(asked, { unix: socket })).status).toBe(201)
  const { stdout } = await runCoffer(['app', 'list', '--data', data])
  expect(stdout).toContain('a\ufffd]0;title\ufffd\ufffdb\ufffdc\ufffdd')
  expect(stdout).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
  expect(stdout.trimEnd().split('\n').length).toBe(3)
  expect((await commands(data).run('app', 'list')).stdout).not.toContain('\u001b')
  await server.end('SIGTERM')
})

// proves S24
test('sessions are listed and ended, without a key or a nonce', async () => {
  const data = copyOfMade('sessions')
  const socket = join(root, 'sessions.sock')
  const server = await startCoffer(['serve', '--data', data, '--socket', socket])
  const ask = async (method: string, path: string, key: string, body?: unknown) => {
    const asked = body === undefined ? { key } : { key, body }
    const response = await fetch(requestOf(method, path, asked), { unix: socket })
    return (await response.json()) as Record<string, string>
  }
  const application = { name: 'page', type: 'public', permissions: ['token:create'] }
  const { key: page = '' } = await ask('POST', '/applications', manager, application)
  const { session_key: secret = '', nonce = '' } = await ask('POST', '/sessions', page, {})
  const { stdout } = await commands(data).run('session', 'list')
  const { sessions } = JSON.parse(stdout) as { sessions: { id: string; authorized: boolean }[] }
  expect(sessions).toMatchObject([{ authorized: false }])
  expect(secret.length > 0 && nonce.length > 0).toBe(true)
  expect(stdout).not.toContain(secret)
  expect(stdout).not.toContain(nonce)
  const id = sessions[0]?.id ?? ''
  expect(await json(commands(data).run('session', 'end', id))).toEqual({
    session_id: id,
    ended: true,
  })
  expect(await json(commands(data).run('session', 'list'))).toEqual({ sessions: [] })
  await server.end('SIGTERM')
})

test('status tells of a running server, and that none runs', async () => {
  const data = copyOfMade('status')
  const server = await startCoffer(['serve', '--data', data, '--port', '0'])
  const facts = await json<Record<string, unknown>>(commands(data).run('status'))
  expect(facts).toMatchObject({ rows_given: 3, data_keys: 1 })
  const { stdout } = await runCoffer(['status', '--data', data])
  expect(stdout).toMatch(/^version +\d/)
  await server.end('SIGTERM')
  expectFailure(await commands(data).run('status'), /no server runs on/)
  expectFailure(await commands(join(root, 'nowhere')).run('status'), /is not a data folder/)
})

describe('coffer verify --online', () => {
  test('looks at a served vault, which goes on, and leaves nothing', async () => {
    const data = copyOfMade('looked')
    const server = await startCoffer(['serve', '--data', data, '--port', '0'])
    const { run } = commands(data)
    expectFailure(await run('verify'), /another coffer runs/)
    expect(await json(run('verify', '--online'))).toMatchObject({
      damages: [],
      rows: { keyring: 1, tenant: 1, application: 1 },
    })
    expect(existsSync(join(data, 'verifying'))).toBe(false)
    await json(run('app', 'list'))
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('finds a row that does not open, and takes the place of nothing', async () => {
    const data = copyOfMade('spoilt')
    const environment = openEnvironment(join(data, 'store'))
    const [last] = [...environment.rows.getRange({ reverse: true, limit: 1 })]
    const value = Buffer.from(last?.value ?? [])
    value[value.length - 1] = (value.at(-1) ?? 0) ^ 1
    environment.rows.putSync(last?.key ?? new Uint8Array(), value)
    await environment.root.close()
    const { exitCode, stdout } = await commands(data).run('verify', '--online')
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('value_damaged')])
    mkdirSync(join(data, 'verifying'))
    writeFileSync(join(data, 'verifying', 'notes'), 'of somebody')
    expectFailure(await commands(data).run('verify', '--online'), /is in the way/)
    expect(existsSync(join(data, 'verifying', 'notes'))).toBe(true)
  })
})

describe('the socket', () => {
  // proves S24
  test('is of its owner alone, and is gone when the server is', async () => {
    const data = copyOfMade('owned')
    const server = await startCoffer(['serve', '--data', data, '--port', '0'])
    const socket = join(data, 'control')
    expect(statSync(socket).mode & 0o077).toBe(0)
    await server.end('SIGTERM')
    expect(existsSync(socket)).toBe(false)
  })

  test('that a killed server has left is nobody, and is taken by the next one', async () => {
    const data = copyOfMade('killed')
    const serve = ['serve', '--data', data, '--port', '0']
    const first = await startCoffer(serve)
    await first.end('SIGKILL')
    expect(existsSync(join(data, 'control'))).toBe(true)
    expect((await commands(data).apps()).length).toBe(1)
    const second = await startCoffer(serve)
    expect((await commands(data).apps()).length).toBe(1)
    await second.end('SIGTERM')
  })

  test('is reached in a folder whose path is longer than that of a socket may be', async () => {
    const deep = join(root, 'd'.repeat(100), 'e'.repeat(100))
    mkdirSync(deep, { recursive: true })
    const data = join(deep, 'vault')
    cpSync(made, data, { recursive: true })
    const server = await startCoffer(['serve', '--data', data, '--port', '0'])
    expect((await commands(data).apps()).length).toBe(1)
    await server.end('SIGTERM')
  })

  test('that cannot be made, as on a disk without room, is told of and ends nothing', async () => {
    const path = join(temporaryFolder(), 'nowhere', 'control')
    const logged: string[] = []
    const control = startControl(path, findIn({}), event => logged.push(event))
    expect(logged).toEqual(['control_unavailable'])
    expect(await callControl(path, 'status', {})).toBeUndefined()
    await control.stop()
  })

  // proves S24
  test('refuses what is no operation, and what is no JSON object', async () => {
    const path = join(temporaryFolder(), 'control')
    const logged: string[] = []
    const echo = async (): Promise<{ done: boolean }> => ({ done: true })
    const fails = async (): Promise<never> => {
      throw new Error('with a value 4242424242424242')
    }
    const control = startControl(path, findIn({ echo, fails }), event => logged.push(event))
    const post = (name: string, body: string) =>
      fetch(`http://control/${name}`, { unix: path, method: 'POST', body })
    expect((await post('none', '{}')).status).toBe(404)
    expect((await post('constructor', '{}')).status).toBe(404)
    expect((await post('echo', '[')).status).toBe(400)
    expect((await post('echo', '[]')).status).toBe(400)
    expect((await post('echo', 'x'.repeat(70_000))).status).toBe(413)
    expect((await fetch('http://control/echo', { unix: path })).status).toBe(400)
    expect(await callControl(path, 'echo', {})).toEqual({ done: true })
    const refused = callControl(path, 'fails', {})
    await expect(refused).rejects.toThrow('an error that was not expected')
    await expect(refused).rejects.not.toThrow('4242')
    expect(logged).toEqual(['controlled', 'controlled'])
    await control.stop()
    expect(await callControl(path, 'echo', {})).toBeUndefined()
  })

  test('where something else stands, the server says so', async () => {
    const data = copyOfMade('taken')
    mkdirSync(join(data, 'control'))
    expectFailure(
      await runCoffer(['serve', '--data', data, '--port', '0']),
      /cannot listen at \S+control: move away what is there/,
    )
  })

  test('an operation may be silent for longer than a connection may be idle', async () => {
    const path = join(temporaryFolder(), 'control')
    const long = async () => {
      await Bun.sleep((idleSecondsMax + 4) * 1_000)
      return { silent: true }
    }
    const control = startControl(path, findIn({ long }), () => {})
    expect(await callControl(path, 'long', {})).toEqual({ silent: true })
    await control.stop()
  })

  test('an operation goes on when the caller has gone', async () => {
    const path = join(temporaryFolder(), 'control')
    const begun = Promise.withResolvers<void>()
    const gone = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<string>()
    const control = startControl(
      path,
      findIn({
        async long(_: unknown, tell: (facts: { half: boolean }) => void) {
          begun.resolve()
          await gone.promise
          tell({ half: true })
          ended.resolve('done')
          return {}
        },
      }),
      () => {},
    )
    const abort = new AbortController()
    const asked = fetch('http://control/long', {
      unix: path,
      method: 'POST',
      body: '{}',
      signal: abort.signal,
    })
    await begun.promise
    abort.abort()
    await asked.catch(() => {})
    gone.resolve()
    expect(await ended.promise).toBe('done')
    await control.stop()
  })
})
