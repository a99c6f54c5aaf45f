/**
 * The request log of a process as a person starts it, and its other lines.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const secret = 'planted-4111111111111111'

let root: string
/** A data folder that tests copy; its master key lies apart. */
let made: string
let keyFile: string
let key: string
let applicationId: string

beforeAll(async () => {
  root = temporaryFolder()
  made = join(root, 'made')
  keyFile = join(root, 'master.key')
  const args = ['init', '--data', made, '--master-key-file', keyFile, '--json']
  const told = JSON.parse((await runCoffer(args)).stdout) as Record<string, string>
  key = told['key'] ?? ''
  applicationId = told['application_id'] ?? ''
})

let count = 0

const serve = (...more: readonly string[]): Promise<Running> => {
  const data = join(root, `vault-${(count += 1)}`)
  cpSync(made, data, { recursive: true })
  const apart = ['--data', data, '--master-key-file', keyFile]
  return startCoffer(['serve', ...apart, '--port', '0', ...more])
}

const addressOf = ({ ready }: Running): string => /http:\/\/\S+/.exec(ready)?.[0] ?? ''

type Line = Readonly<Record<string, unknown>>

/** Ends it in order. @returns the lines of its log */
async function linesOf(server: Running): Promise<readonly Line[]> {
  expect(await server.end('SIGTERM')).toBe(0)
  const lines = (await server.stderr).split('\n').filter(line => line !== '')
  return lines
    .map(line => JSON.parse(line) as Line)
    .filter(({ event }) => !['started', 'stopping', 'stopped'].includes(String(event)))
}

const asManager = () => ({ headers: { 'SVC-API-KEY': key } })

describe('the request log', () => {
  // proves S2
  test('has one line an answer, with whose it was and no word of what was sent', async () => {
    const server = await serve('--log-requests', 'all', '--base-path', '/vault')
    const base = `${addressOf(server)}/vault`
    const body = JSON.stringify({ name: secret, type: 'public', permissions: ['token:create'] })
    const headers = { 'SVC-API-KEY': key, 'content-type': 'application/json' }
    const options = { method: 'POST', headers: { ...headers, 'SVC-TRACE-ID': 'my-trace' }, body }
    const bad = body.replace('public', secret)
    const refused = await fetch(`${base}/applications?${secret}=1`, { ...options, body: bad })
    const refusedBytes = (await refused.text()).length
    const made201 = await fetch(`${base}/applications?${secret}=1`, options)
    const madeText = await made201.text()
    const madeBytes = madeText.length
    const { id: madeId } = JSON.parse(madeText) as Record<string, string>
    await fetch(`${base}/tokens/${secret}`, { method: 'HEAD', ...asManager() })
    await fetch(`${base}/${secret}`)
    await fetch(`${base}/tokens`, { headers: { 'SVC-API-KEY': `key_${secret}` } })
    const lines = await linesOf(server)
    const common = {
      time: expect.any(String),
      event: 'request',
      duration_ms: expect.any(Number),
      client_address: '127.0.0.1',
    }
    const ours = { trace_id: expect.stringMatching(/^[0-9a-f]{16}-\w+$/) }
    const known = { application_id: applicationId, key_id: expect.stringMatching(/^[\da-f-]{36}$/) }
    const create = { method: 'POST', route: '/vault/applications', operation: 'createApplication' }
    const nothingIn = { bytes_in: 0 }
    const managed = { ...common, ...create, ...known, trace_id: 'my-trace' }
    const others = { ...common, ...ours, ...nothingIn, level: 'warning' }
    const bytes = { bytes_out: expect.any(Number) }
    const refusedAs = (status: number, refusal: string) => ({ status, refusal })
    const head = { method: 'HEAD', route: '/vault/tokens/:id', operation: 'getToken' }
    const list = { method: 'GET', route: '/vault/tokens', operation: 'listTokens' }
    const bad400 = { level: 'warning', bytes_in: bad.length, bytes_out: refusedBytes }
    expect(lines).toEqual([
      { ...managed, ...bad400, ...refusedAs(400, 'invalid_request') },
      {
        ...managed,
        level: 'info',
        status: 201,
        bytes_in: body.length,
        bytes_out: madeBytes,
        object_id: madeId,
      },
      {
        ...others,
        ...known,
        ...head,
        ...refusedAs(403, 'forbidden'),
        bytes_out: 0,
      },
      { ...others, ...bytes, method: 'GET', route: null, ...refusedAs(404, 'not_found') },
      { ...others, ...bytes, ...list, ...refusedAs(401, 'unauthenticated') },
    ])
    const text = await server.stderr
    for (const hidden of [secret, key, '4111']) expect(text).not.toContain(hidden)
  })

  // proves S2
  test('shows no trace id that is a key or a card number, and no method of a caller', async () => {
    const server = await serve('--log-requests', 'all')
    const ask = (traceId: string) =>
      fetch(`${addressOf(server)}/tokens`, { headers: { 'SVC-TRACE-ID': traceId } })
    const secrets = [key, key.slice(4), 'card-4111-1111-1111-1111', '4111.1111.1111.1111']
    for (const traceId of [...secrets, 'x"y\\z']) await ask(traceId)
    const lines = await linesOf(server)
    expect(lines.map(line => line['trace_id'])).toEqual([...secrets.map(() => 'hidden'), 'x"y\\z'])
  })

  test('says of a session which it is', async () => {
    const server = await serve('--log-requests', 'all')
    const base = addressOf(server)
    const send = async (path: string, asKey: string, body: object) => {
      const headers = { 'SVC-API-KEY': asKey, 'content-type': 'application/json' }
      const answer = await fetch(base + path, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      return (await answer.json().catch(() => ({}))) as Record<string, string>
    }
    const app = (type: string) => ({ name: 'app', type, permissions: ['token:create'] })
    const shop = await send('/applications', key, app('public'))
    const backend = await send('/applications', key, app('private'))
    const session = await send('/sessions', shop['key'] ?? '', {})
    const grants = { nonce: session['nonce'], permissions: ['token:create'] }
    await send('/sessions/authorize', backend['key'] ?? '', grants)
    await send('/tokens', session['session_key'] ?? '', { type: 'token', data: secret })
    const last = (await linesOf(server)).at(-1)
    expect(last).toMatchObject({
      operation: 'createToken',
      application_id: shop['id'],
      session_id: session['id'],
    })
    const text = await server.stderr
    for (const hidden of [session['session_key'], session['nonce'], secret]) {
      expect(text).not.toContain(String(hidden))
    }
  })

  test('is off by default; of errors alone, or one in so many others, when asked', async () => {
    const askAll = async (server: Running): Promise<readonly Line[]> => {
      const own = `${addressOf(server)}/applications/key`
      for (let n = 0; n < 100; n += 1) await fetch(own, asManager())
      for (let n = 0; n < 3; n += 1) await fetch(own)
      return linesOf(server)
    }
    const statuses = (lines: readonly Line[]) => lines.map(line => line['status'])
    expect(await askAll(await serve())).toEqual([])
    expect(statuses(await askAll(await serve('--log-requests', 'errors')))).toEqual([401, 401, 401])
    const sampled = await askAll(await serve('--log-requests', 'all', '--log-sample', '10'))
    const good = statuses(sampled).filter(status => status === 200).length
    expect(good).toBeGreaterThan(0)
    expect(good).toBeLessThan(40)
    expect(statuses(sampled).filter(status => status === 401).length).toBe(3)
  })

  test('is there beside the numbers, and of each of several workers', async () => {
    const server = await serve('--log-requests', 'all', '--ops-port', '0')
    const [ops = '', address = ''] = server.ready.match(/http:\/\/\S+/g) ?? []
    await fetch(`${address}/applications/key`, asManager())
    const numbers = await (await fetch(`${ops}/metrics`)).text()
    expect(numbers).toContain('{operation="getOwnApplication",status="200"} 1')
    expect((await linesOf(server)).length).toBe(1)
    const workers = await serve('--log-requests', 'all', '--workers', '2')
    for (let n = 0; n < 40; n += 1) {
      await fetch(`${addressOf(workers)}/applications/key`, { ...asManager(), keepalive: false })
    }
    const lines = (await linesOf(workers)).filter(line => line['event'] === 'request')
    expect(lines.length).toBe(40)
    for (const line of lines) expect([0, 1]).toContain(Number(line['worker']))
  })

  test('is one line of text each where that is asked for', async () => {
    const server = await serve('--log-requests', 'all', '--log-format', 'text')
    await fetch(`${addressOf(server)}/applications/key`, asManager())
    expect(await server.end('SIGTERM')).toBe(0)
    const ids = `by=${applicationId} trace=\\S+ from=127.0.0.1 key=\\S+`
    const shown = `info 200 GET /applications/key \\S+ms in=0 out=\\d+ ${ids}`
    expect(await server.stderr).toMatch(new RegExp(`^\\S+Z ${shown}$`, 'm'))
  })

  test('of a reader that does not read keeps nobody waiting, and says what it lacks', async () => {
    const data = join(root, 'unread')
    cpSync(made, data, { recursive: true })
    const apart = ['--data', data, '--master-key-file', keyFile]
    const fifo = join(root, 'fifo')
    Bun.spawnSync(['mkfifo', fifo])
    // A reader that opens the pipe, and reads when it is told to.
    const reader = Bun.spawn(['sh', '-c', `exec 4< "${fifo}"; read go; exec cat <&4`], {
      stdin: 'pipe',
      stdout: 'pipe',
    })
    const server = await startCoffer(['serve', ...apart, '--port', '0', '--log-requests', 'all'], {
      prefix: ['sh', '-c', `exec "$@" 2> "${fifo}"`, 'sh'],
    })
    const own = `${addressOf(server)}/applications/key`
    const asked = 6_000
    for (let n = 0; n < asked; n += 50) {
      const all = Array.from({ length: 50 }, () => fetch(own, asManager()))
      for (const answer of await Promise.all(all)) expect(answer.status).toBe(200)
    }
    void reader.stdin.write('go\n')
    void reader.stdin.end()
    await Bun.sleep(500)
    expect(await server.end('SIGTERM')).toBe(0)
    const lines = (await new Response(reader.stdout).text()).trimEnd().split('\n')
    const parsed = lines
      .map(line => JSON.parse(line) as Line)
      .filter(({ event }) => !/^(?:started|stopp)/.test(String(event)))
    const dropped = parsed.filter(line => line['event'] === 'log_lines_dropped')
    const missing = dropped.reduce((sum, line) => sum + Number(line['count']), 0)
    expect(missing).toBeGreaterThan(0)
    expect(parsed.length - dropped.length + missing).toBe(asked)
  }, 300_000)
})

describe('events', () => {
  test('of less than the level that is asked for are left out, and can be text', async () => {
    const unsafe = ['--host', '0.0.0.0', '--strict-masks', 'false']
    const told = await linesOf(await serve(...unsafe))
    expect(told.map(({ level, event, about }) => [level, event, about])).toEqual([
      ['warning', 'unsafe', '--strict-masks'],
      ['warning', 'unsafe', '--host'],
    ])
    expect(await linesOf(await serve(...unsafe, '--log-level', 'error'))).toEqual([])
    const server = await serve(...unsafe, '--log-format', 'text')
    await server.end('SIGTERM')
    expect(await server.stderr).toMatch(/^\S+Z warning unsafe about=--strict-masks text="[^\n]+"\n/)
  })

  test('say at each start that codes of cards are kept for good', async () => {
    const told = await linesOf(await serve('--cvc-lifetime', 'never'))
    expect(told.map(({ event, about }) => [event, about])).toEqual([['unsafe', '--cvc-lifetime']])
    expect(await linesOf(await serve('--cvc-lifetime', '1m'))).toEqual([])
  })

  // proves S3
  test('say at each start what is unsafe, once also of several workers', async () => {
    expect(await linesOf(await serve())).toEqual([])
    const beside = join(root, 'beside')
    cpSync(made, beside, { recursive: true })
    cpSync(keyFile, join(beside, 'master.key'))
    for (const more of [[], ['--workers', '2']]) {
      const args = ['serve', '--data', beside, '--port', '0', ...more]
      const lines = await linesOf(await startCoffer(args))
      const unsafe = lines.filter(line => line['event'] === 'unsafe')
      expect(unsafe.map(({ about }) => about)).toEqual(['master key'])
    }
    renameSync(join(beside, 'master.key'), join(root, 'moved.key'))
  })
})
