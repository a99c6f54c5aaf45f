/**
 * `docs/http.md`: every mistake of its table is told as it says.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import { readPage } from '../support/page.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

interface Row {
  readonly mistake: string
  readonly method: string
  readonly path: string
  readonly raw: string | undefined
  readonly by: string
  readonly status: number
  readonly detail: string
}

const codeSpan = /(`+)(.+?)\1(?!`)/g

const codesIn = (cell: string): readonly string[] =>
  [...cell.matchAll(codeSpan)].map(([, , code = '']) => code.replace(/^(.*`) $/, '$1'))

function rowOf(line: string): Row {
  const cells = line.split(/(?<!\\)\|/).map(cell => cell.trim().replaceAll('\\|', '|'))
  const [, mistake = '', request = '', answer = ''] = cells
  const [target = '', body] = codesIn(request)
  const [method = '', path = ''] = target.split(' ')
  const raw = body?.startsWith('{') === true || body?.startsWith('"') === true ? body : undefined
  const by = /(?:with|without) .*$/.exec(request.replaceAll(codeSpan, 'CODE'))?.[0] ?? ''
  const [detail = ''] = codesIn(answer)
  return { mistake, method, path, raw, by, status: Number.parseInt(answer, 10), detail }
}

const rows = readPage('docs/http.md')
  .split('\n')
  .filter(line => /\| \d{3} `/.test(line))
  .map(rowOf)

const permissions = ['create', 'read', 'update', 'search', 'use'].map(name => `token:${name}`)

let vault: TestVault
let keys: Readonly<Record<string, string | undefined>>
beforeAll(async () => {
  vault = await openTestVault(931)
  const key = await vault.application({ type: 'private', permissions })
  const publicKey = await vault.application({ type: 'public', permissions: ['token:create'] })
  const body = { id: 'my-card', type: 'card', data: { number: '4242424242424242' } }
  await vault.ask('POST', '/tokens', { key, body })
  keys = {
    '': key,
    'with a public key': publicKey,
    'with a management key': vault.managementKey,
    'without a key': undefined,
    'with CODE': undefined,
  }
})

test('the table has the mistakes of every kind', () => {
  expect(rows.length).toBeGreaterThan(40)
  expect(new Set(rows.map(({ mistake }) => mistake)).size).toBe(rows.length)
})

// proves C1.20
test.each(rows.map(row => [row.mistake, row] as const))('%s', async (_, row) => {
  const { method, path, raw, by, status, detail } = row
  expect(Object.keys(keys)).toContain(by)
  const key = keys[by]
  const before = (await vault.ask('GET', '/tokens', { key: keys[''] ?? '' })).text
  const answer = await vault.ask(method, path, {
    ...(key === undefined ? {} : { key }),
    ...(raw === undefined ? {} : { raw }),
    ...(by === 'with CODE' ? { headers: { authorization: `Bearer ${keys[''] ?? ''}` } } : {}),
  })
  expect(answer.status).toBe(status)
  const told = String(answer.body['detail'])
  const [start = '', rest] = detail.split('…')
  if (rest === undefined)
    expect(told.split('; ', detail.split('; ').length).join('; ')).toBe(detail)
  else expect(told).toStartWith(start)
  expect((await vault.ask('GET', '/tokens', { key: keys[''] ?? '' })).text).toBe(before)
})

test('its calls are those of the document, each with the permission that it needs', async () => {
  const { body } = await vault.ask('GET', '/swagger/json', {})
  const paths = body['paths'] as Readonly<Record<string, Readonly<Record<string, unknown>>>>
  const served = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )
  const told = readPage('docs/http.md')
    .split('\n')
    .filter(line =>
      /^\| `(?:GET|POST|PUT|PATCH|DELETE) [^|]*\|[^|]*(?:\\\|[^|]*)*\|[^|]*\|$/.test(line),
    )
    .flatMap(line => codesIn(line.split(' | ')[0] ?? ''))
  expect(told.toSorted()).toEqual(served.toSorted())
})
