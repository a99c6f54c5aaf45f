/**
 * `coffer token`, `coffer session create | authorize` and `coffer permissions`, against a vault.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startVault, type KeyKind, type TestVault } from '../../src/testing/index.ts'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

let vault: TestVault
beforeAll(async () => {
  vault = await startVault()
})
afterAll(() => vault.stop())

const reach = (kind: KeyKind = 'private') => ({
  COFFER_ADDR: vault.address,
  COFFER_KEY: vault.keys[kind],
})

const run = (words: readonly string[], input = '', env: Record<string, string> = reach()) =>
  runCoffer(words, { input, env })

async function told<T>(words: readonly string[], input = '', env = reach()): Promise<T> {
  const { exitCode, stdout, stderr } = await run([...words, '--json'], input, env)
  expect([exitCode, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as T
}

const number = '4242424242424242'
const data = JSON.stringify({ number, cvc: '123' })

describe('coffer token', () => {
  test('stores the data on stdin, and shows it masked, revealed, changed and deleted', async () => {
    const words = ['token', 'create', '--type', 'card', '--id', 'order-1', '--container', '/pci/x/']
    const pairs = ['--metadata', 'order=17', 'shop=a=b', '--expires-at', '2100-01-01T00:00:00Z']
    const made = await told<{ id: string }>([...words, ...pairs], data)
    expect(made).toMatchObject({
      id: 'order-1',
      data: { number: 'XXXXXXXXXXXX4242' },
      containers: ['/pci/x/'],
      metadata: { order: '17', shop: 'a=b' },
      expires_at: '2100-01-01T00:00:00.000+00:00',
    })
    const read = await run(['token', 'get', 'order-1'])
    expect(read.stdout).toContain(`data                    {"number":"${number}","cvc":"123"}\n`)
    expect(read.stdout).toContain('created at ')
    const changed = await told(['token', 'update', 'order-1'], '{"metadata":{"order":null}}')
    expect(changed).toMatchObject({ metadata: { shop: 'a=b' } })
    expect((await run(['token', 'delete', 'order-1'])).stdout).toBe('The token is deleted.\n')
    expect((await run(['token', 'get', 'order-1'])).exitCode).toBe(4)
  })

  // proves C1.13
  test.each([
    '12345678901234567890',
    '{"b":1e+2,"a":1.10,"1":-0,"0":0.1234567890123456789012}',
    '[9007199254740993,1.0,-0.0,1E-400]',
    '{"number":{"numberText":"17"},"pagination":[1.0]}',
  ])('leaves %s as it came, also where it is shown', async text => {
    const made = await told<{ id: string }>(['token', 'create', '--type', 'token'], text)
    const whole = await told<{ id: string }>(['token', 'create'], `{"type":"token","data":${text}}`)
    for (const { id } of [made, whole]) {
      for (const words of [
        ['get', id],
        ['list', '--id', id],
      ]) {
        const { stdout } = await run(['token', ...words, '--json'])
        expect(stdout).toContain(`"data":${text},`)
        expect(stdout.endsWith('}\n')).toBe(true)
      }
      expect((await run(['token', 'get', id])).stdout).toContain(
        `data                    ${text}\n`,
      )
    }
    const found = await run(['token', 'search', '--json'], `id:"${made.id}"`)
    expect(found.stdout).toContain(`"data":${text},`)
    const changed = await run(['token', 'update', whole.id, '--json'], `{"data":{"a":1.10}}`)
    expect([changed.exitCode, changed.stderr]).toEqual([0, ''])
    expect((await run(['token', 'get', whole.id, '--json'])).stdout).toContain('"a":1.10')
  })

  // proves C1.13
  test('prints what was answered, with its members in their order', async () => {
    const request = '{"id":"as-answered","type":"token","data":{"z":1.50,"10":2,"2":-0}}'
    await told(['token', 'create'], request)
    const headers = { 'SVC-API-KEY': vault.keys.private }
    const answer = await fetch(`${vault.address}/tokens/as-answered`, { headers })
    const { stdout } = await run(['token', 'get', 'as-answered', '--json'])
    expect(stdout).toBe(`${await answer.text()}\n`)
  })

  // proves C1.13
  test.each([
    ['1e400', 'expected a number within the range of a double at character 0'],
    ['{"a":1,"a":2}', 'expected'],
    ['\ufeff{"a":1}', 'expected no byte order mark'],
    ['"\\ud800"', 'expected a string without lone surrogates'],
    ['{"a":01}', 'expected'],
    ['[1,]', 'expected'],
    ['NaN', 'expected a value'],
  ])('refuses %j as the interface does, and sends nothing', async (text, says) => {
    const list = ['token', 'list', '--json']
    const before = await run(list)
    expect([before.exitCode, before.stderr]).toEqual([0, ''])
    for (const words of [['create', '--type', 'token'], ['create'], ['update', 'any']]) {
      const { exitCode, stdout, stderr } = await run(['token', ...words], text)
      expect([exitCode, stdout]).toEqual([2, ''])
      expect(stderr).toContain(says)
      expect(stderr).not.toContain(text)
    }
    expect(await run(list)).toEqual(before)
  })

  test('takes the whole request from stdin where no type is given', async () => {
    const request = { id: 'whole', type: 'token', data: [1, 'two'] }
    expect(await told(['token', 'create'], JSON.stringify(request))).toMatchObject({ id: 'whole' })
    expect(await told(['token', 'get', 'whole'])).toMatchObject({ data: [1, 'two'] })
    const words = ['token', 'create', '--type', 'token', '--deduplicate']
    const first = await told<{ id: string }>(words, '"same"')
    expect(await told(words, '"same"')).toMatchObject({ id: first.id })
  })

  test('lists and finds, as a table or a line each, and no more than is asked for', async () => {
    for (const order of ['1', '2', '3']) {
      const words = ['token', 'create', '--type', 'bank', '--metadata', `order=${order}`]
      await told(
        words,
        JSON.stringify({ routing_number: '021000021', account_number: `9${order}` }),
      )
    }
    const table = (await run(['token', 'list', '--type', 'bank', '--limit', '2'])).stdout
    expect(table.split('\n')[0]).toMatch(/^id +type +container +created_at +data$/)
    expect(table.trim().split('\n')).toHaveLength(3)
    const filter = ['token', 'list', '--container', '/bank/', '--metadata', 'order=2']
    expect(await told(filter)).toMatchObject({ data: { account_number: '92' } })
    const lines = await run(['token', 'search', '--json'], 'type:bank AND NOT metadata.order:3\n')
    const found = lines.stdout.trim().split('\n')
    expect(found.map(line => (JSON.parse(line) as { type: string }).type)).toEqual(['bank', 'bank'])
    expect((await run(['token', 'list', '--type', 'employer_id_number', '--json'])).stdout).toBe('')
  })

  test('shows what a caller stored without its control characters', async () => {
    const metadata = { evil: '\u001b[2Jgone\u202e' }
    const request = { id: 'evil', type: 'token', data: '\u001b[31m', metadata }
    await told(['token', 'create'], JSON.stringify(request))
    const { stdout } = await run(['token', 'get', 'evil'])
    for (const mark of ['\u001b', '\u202e']) expect(stdout).not.toContain(mark)
    expect(await told(['token', 'get', 'evil'])).toMatchObject({ metadata })
  })
})

test('coffer session create and authorize give a page its access', async () => {
  await told(['token', 'create', '--type', 'card', '--id', 'shown'], data)
  const session = await told<{ session_key: string; nonce: string }>(
    ['session', 'create'],
    '',
    reach('public'),
  )
  const env = { ...reach(), COFFER_KEY: session.session_key }
  expect((await run(['token', 'get', 'shown'], '', env)).exitCode).toBe(3)
  const grants = JSON.stringify({ nonce: session.nonce, permissions: ['token:read'] })
  expect(await told(['session', 'authorize'], grants)).toEqual({ authorized: true })
  expect(await told(['token', 'get', 'shown'], '', env)).toMatchObject({ id: 'shown' })
  expect((await run(['session', 'create'], '', reach('public'))).stdout).toContain('session key')
})

test('coffer permissions shows what can be granted', async () => {
  const { permissions } = await told<{ permissions: { type: string }[] }>(
    ['permissions', '--type', 'public'],
    '',
    reach('management'),
  )
  expect(permissions.map(({ type }) => type)).toEqual(['token:create', 'token:update'])
  const { stdout } = await run(['permissions'], '', reach('management'))
  expect(stdout).toMatch(/^type +types +description\n/)
})

describe('the vault is reached', () => {
  test('with a key of a file, at an address by flag', async () => {
    const file = join(temporaryFolder(), 'key')
    writeFileSync(file, `${vault.keys.private}\n`)
    const words = ['token', 'list', '--addr', vault.address, '--key-file', file, '--limit', '1']
    expect((await run(words, '', {})).exitCode).toBe(0)
  })

  test('over a Unix socket', async () => {
    const folder = temporaryFolder()
    const made = await runCoffer(['init', '--data', join(folder, 'v'), '--json'])
    const { key } = JSON.parse(made.stdout) as { key: string }
    const socket = join(folder, 'socket')
    const server = await startCoffer(['serve', '--data', join(folder, 'v'), '--socket', socket])
    const env = { COFFER_ADDR: `unix:${socket}`, COFFER_KEY: key }
    expect((await run(['permissions', '--json'], '', env)).exitCode).toBe(0)
    await server.end('SIGTERM')
    expect((await run(['permissions'], '', env)).exitCode).toBe(7)
  })

  test('past the proxy of the environment, whatever it is', async () => {
    const seen: string[] = []
    const proxy = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch(request) {
        seen.push(request.url)
        return new Response()
      },
    })
    const env = { ...reach(), HTTP_PROXY: proxy.url.origin, HTTPS_PROXY: proxy.url.origin }
    expect((await run(['token', 'list', '--limit', '1'], '', env)).exitCode).toBe(0)
    expect(seen).toEqual([])
    await proxy.stop(true)
  })
})

test('a variable by which the runtime tells of requests has it print no key', async () => {
  const env = { ...reach(), BUN_CONFIG_VERBOSE_FETCH: 'curl' }
  const { exitCode, stdout, stderr } = await run(['permissions'], '', env)
  expect(exitCode).toBe(0)
  expect(stdout + stderr).not.toContain(vault.keys.private)
})

describe('each failure has its exit code, and repeats nothing', () => {
  const secret = 'key_ThisIsASecretKeyOfAll'
  const lacking = (name: keyof ReturnType<typeof reach>) => {
    const { [name]: _, ...rest } = reach()
    return rest
  }
  const list = ['token', 'list']
  const create = ['token', 'create']

  test.each([
    [2, 'no address', list, '', () => lacking('COFFER_ADDR'), 'COFFER_ADDR'],
    [2, 'no key', list, '', () => lacking('COFFER_KEY'), 'COFFER_KEY'],
    [2, 'what is no address', list, '', () => ({ ...reach(), COFFER_ADDR: number }), '--addr'],
    [2, 'what is no key', list, '', () => ({ ...reach(), COFFER_KEY: `${number}\t` }), 'API key'],
    [2, 'a file that is none', [...list, '--key-file', '/absent'], '', reach, '--key-file'],
    [2, 'input that is no JSON', create, number.slice(0, 3) + '{', reach, 'standard input'],
    [2, 'input that is no object', create, `"${number}"`, reach, 'standard input'],
    [2, 'no input', [...create, '--type', 'card'], '', reach, 'standard input'],
    [2, 'fields without a type', [...create, '--id', 'x'], '{}', reach, '--type'],
    [2, 'a pair that is none', [...list, '--metadata', number], '', reach, 'number 1 is none'],
    [2, 'a limit that is none', [...list, '--limit', '0'], '', reach, '--limit'],
    [2, 'an option that is none', [...create, '--data', number], '', reach, 'unknown option'],
    [3, 'a key of nobody', list, '', () => ({ ...reach(), COFFER_KEY: secret }), 'COFFER_KEY or'],
    [3, 'a key that may not', list, '', () => reach('management'), 'token:read'],
    [4, 'what is not there', ['token', 'get', 'absent'], '', reach, 'no such token'],
    [
      6,
      'a card that is none',
      [...create, '--type', 'card'],
      '{"number":"4242"}',
      reach,
      'data.number',
    ],
    [7, 'nobody', list, '', () => ({ ...reach(), COFFER_ADDR: 'http://127.0.0.1:9' }), 'no answer'],
    [
      7,
      'nobody at a port',
      list,
      '',
      () => ({ ...reach(), COFFER_ADDR: 'http://127.0.0.1:9' }),
      'no answer from http://127.0.0.1:9: ECONNREFUSED, nothing listens there',
    ],
    [
      7,
      'no socket',
      list,
      '',
      () => ({ ...reach(), COFFER_ADDR: 'unix:/nowhere/coffer' }),
      'no answer from the socket /nowhere/coffer: ENOENT, there is no such socket',
    ],
  ])('%d for %s', async (exitCode, _, words, input, env, says) => {
    const failed = await run(words, input, env())
    expect([failed.exitCode, failed.stdout]).toEqual([exitCode, ''])
    expect(failed.stderr).toStartWith('coffer: ')
    expect(failed.stderr.trim().split('\n')).toHaveLength(1)
    expect(failed.stderr).toContain(says)
    for (const value of [number, secret, vault.keys.private]) {
      expect(failed.stderr).not.toContain(value)
    }
  })

  test('5 for an id that is taken', async () => {
    const request = JSON.stringify({ id: 'taken', type: 'token', data: 1 })
    await told(create, request)
    expect((await run(create, request)).exitCode).toBe(5)
  })

  test('more input than any vault takes', async () => {
    const failed = await run([...create, '--type', 'token'], `"${'a'.repeat(4_200_000)}"`)
    expect([failed.exitCode, failed.stderr]).toEqual([
      2,
      'coffer: standard input: expected at most 4194304 bytes; see --help\n',
    ])
  })
})

test('an answer of a server that is no vault does nothing to the terminal', async () => {
  const evil = '\u001b[2J\u009b31m\u202e\nline'
  const headers = { 'content-type': 'application/problem+json', 'svc-trace-id': 'trace\u009b' }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: request =>
      request.url.endsWith('/good')
        ? Response.json({ id: 'good', type: evil, [evil]: evil })
        : new Response(JSON.stringify({ detail: evil }), { status: 400, headers }),
  })
  const env = { COFFER_ADDR: server.url.origin, COFFER_KEY: 'key_any' }
  const failed = await run(['token', 'get', 'bad'], '', env)
  expect([failed.exitCode, failed.stderr.trim().split('\n').length]).toEqual([6, 1])
  const table = await run(['token', 'get', 'good'], '', env)
  const json = await run(['token', 'get', 'good', '--json'], '', env)
  for (const text of [failed.stderr, table.stdout, json.stdout]) {
    for (const mark of ['\u001b', '\u009b', '\u202e']) expect(text).not.toContain(mark)
  }
  expect(JSON.parse(json.stdout)).toMatchObject({ [evil]: evil })
  await server.stop(true)
})
