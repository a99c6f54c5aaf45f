/**
 * Bodies over the wire: broken JSON, broken text, wrong types. Accepted values come back as they
 * went in. Group B of docs/hostile-inputs.md.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { decodeUtf8, parseJson } from '../../src/lib/json/parse-json.ts'
import { printJson } from '../../src/lib/json/json.ts'
import { jsonDepthMax } from '../../src/limits/limits.ts'
import { canary } from '../support/refusal.ts'
import { openTestVault, requestOf } from '../support/vault.ts'
import { describeVectors, readVectors } from '../support/vectors.ts'
import { expectUnharmed, jsonOf, openWire, type RawAnswer, type Wire } from '../support/wire.ts'

let wire: Wire
beforeAll(async () => {
  wire = await openWire(104)
})
afterAll(() => wire.close())

const post = (body: string | Uint8Array) => wire.ask('POST', '/tokens', body)
const token = (id: string, data: string) => `{"id":"${id}","type":"token","data":${data}}`
const read = async (id: string) => {
  const { body } = await wire.ask('GET', `/tokens/${id}`)
  return Buffer.from(body, 'latin1').toString('utf8')
}

async function expectRefused(answer: RawAnswer, status = 400): Promise<void> {
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toStartWith('application/problem+json')
  await expectUnharmed(wire, answer)
}

async function expectKept(id: string, data: string): Promise<void> {
  expect((await post(token(id, data))).status).toBe(201)
  expect(await read(id)).toContain(`"data":${data},`)
}

describe('a body is refused', () => {
  // proves C1.9, C1.12, C1.14
  test.each([
    // proves H29
    ['H29: nothing', ' '],
    // proves H29
    ['H29: null', 'null'],
    // proves H29
    ['H29: an array', '[]'],
    // proves H29
    ['H29: a text', `"${canary}"`],
    ['H29: a number', '1'],
    // proves H46
    ['H46: with more after it', `${token('more', '1')} ${canary}`],
    // proves H46
    ['H46: with a comment', `${token('comment', '1')}/* ${canary} */`],
    // proves H46
    ['H46: with NaN', token('nan', 'NaN')],
    // proves H46
    ['H46: with single quotes', `{'type':'token','data':'${canary}'}`],
    // proves H32
    ['H32: with a byte order mark', `\ufeff${token('bom', '1')}`],
    // proves H37
    ['H37: with a name twice', `{"type":"token","data":1,"data":"${canary}"}`],
    // proves H37
    ['H37: with a name twice in data', token('twice', `{"${canary}":1,"${canary}":2}`)],
    // proves H37
    ['H37: with a name twice, once escaped', token('twice', '{"a":1,"\\u0061":2}')],
    // proves H37
    ['H37: with a name twice in metadata', `{"type":"token","data":1,"metadata":{"a":"","a":""}}`],
    // proves H39
    ['H39: with a number beyond doubles', token('beyond', '1e400')],
    // proves H39
    ['H39: with one below them', token('beyond', '-1e400')],
    // proves H41
    ['H41: of depth 65', token('deep', '['.repeat(jsonDepthMax) + ']'.repeat(jsonDepthMax))],
    // proves H41
    [
      'H41: of depth 65, objects',
      token('deep', `${'{"a":'.repeat(jsonDepthMax)}1${'}'.repeat(64)}`),
    ],
    // proves H41
    ['H41: of depth 65, mixed', token('deep', '{"a":['.repeat(32) + ']}'.repeat(32))],
  ])('%s', async (_name, body) => {
    await expectRefused(await post(body))
  })

  // proves H29
  test('H29: without a byte', async () => {
    for (const target of ['/tokens', '/tokenize', '/tokens/search', '/sessions/authorize']) {
      const answer = await wire.ask('POST', target, '', { 'Content-Length': '0' })
      await expectRefused(answer)
    }
    const type = { 'Content-Type': 'application/merge-patch+json', 'Content-Length': '0' }
    await expectRefused(await wire.ask('PATCH', '/tokens/any', '', type))
  })

  // proves C1.9, C1.12, C1.14
  test.each([
    // proves H33
    ['H33: in UTF-16', Buffer.from(token('utf-16', '1'), 'utf16le')],
    // proves H34
    ['H34: with bytes ff fe', [0xff, 0xfe]],
    // proves H34
    ['H34: with an overlong slash', [0xc0, 0xaf]],
    // proves H34
    ['H34: with a truncated letter', [0xe2, 0x82]],
    // proves H34
    ['H34: with an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['H34: with a letter beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
  ])('%s', async (_name, bytes) => {
    const [before, after] = token('bytes', `"${canary}|"`).split('|')
    const framed = Array.isArray(bytes)
      ? Buffer.concat([Buffer.from(before ?? ''), Buffer.from(bytes), Buffer.from(after ?? '')])
      : bytes
    await expectRefused(await post(framed))
  })

  // proves C1.11, H35
  test('H35: with a lone surrogate, wherever it stands', async () => {
    const lone = `"${canary}\\ud800"`
    for (const body of [
      token('lone', lone),
      token('lone', `{${lone}:1}`),
      `{"id":${lone},"type":"token","data":1}`,
      `{"type":"token","data":1,"metadata":{"a":${lone}}}`,
    ]) {
      await expectRefused(await post(body))
    }
    const headers = { 'SVC-API-KEY': wire.vault.managementKey }
    const rest = '"type":"private","permissions":["token:read"]'
    for (const members of [`"name":${lone}`, `"name":"n","description":${lone}`]) {
      await expectRefused(await wire.ask('POST', '/applications', `{${members},${rest}}`, headers))
    }
  })

  // proves H36
  test('H36: with a NUL where a name stands', async () => {
    for (const body of [
      '{"id":"a\\u0000bc","type":"token","data":1}',
      '{"type":"token","data":1,"containers":["/a\\u0000/"]}',
      '{"type":"token","data":1,"metadata":{"a\\u0000":"b"}}',
    ]) {
      await expectRefused(await post(body))
    }
  })

  // proves H43, H44
  test('H43, H44: with so many names or such long texts, by its size', async () => {
    const many = Array.from({ length: 300_000 }, (_, index) => `"${index}":1`).join(',')
    await expectRefused(await post(token('many', `{${many}}`)), 413)
    await expectRefused(await post(token('long', `"${'a'.repeat(1_000_000)}"`)))
    await expectRefused(await post(token('long', `"${'a'.repeat(1_048_576)}"`)), 413)
    await expectRefused(await post(token('long', `"${'\\u0041'.repeat(174_762)}"`)), 413)
    await expectRefused(await post(token('long', `"${'€'.repeat(200_000)}"`)))
  })

  // proves H50
  test('H50: without a digit of the number that stands in the wrong type', async () => {
    for (const number of [4111111111111111, [4111111111111111], { pan: '4111111111111111' }]) {
      const answer = await post(JSON.stringify({ type: 'card', data: { number } }))
      await expectRefused(answer)
      expect(answer.body).not.toContain('4111')
    }
  })
})

describe('an accepted value comes back as it went in', () => {
  // proves C1.8
  test.each([
    // proves H36
    ['H36: a NUL', '"a\\u0000b"'],
    // proves H38
    ['H38: a long integer', '12345678901234567890'],
    // proves H40
    ['H40: minus zero', '-0'],
    // proves H40
    ['H40: 1.0', '1.0'],
    // proves H40
    ['H40: 1E2', '1E2'],
    // proves H40
    ['H40: a long decimal', '0.1000000000000000055'],
    // proves H41
    ['H41: depth 64', '['.repeat(jsonDepthMax - 1) + ']'.repeat(jsonDepthMax - 1)],
    // proves H41
    ['H41: depth 64, objects', `${'{"a":'.repeat(63)}1${'}'.repeat(63)}`],
    // proves H41
    ['H41: depth 64, mixed', `${'{"a":['.repeat(31)}{}${']}'.repeat(31)}`],
    // proves H44
    ['H44: a long text', `"${'a'.repeat(200_000)}"`],
    ['H49: text that turns around', '"\u202eabc\u200d"'],
    ['names of prototypes', '{"__proto__":{"polluted":1},"constructor":2}'],
    ['expressions', '"{{ 1 }}"'],
  ])('%s', async (name, data) => {
    await expectKept(name.replace(/[^A-Za-z0-9]/g, '-').toLowerCase(), data)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  // proves H44
  test('H44: a megabyte of escapes, by what they stand for', async () => {
    const count = 174_000
    const answer = await post(token('escaped', `"${'\\u0041'.repeat(count)}"`))
    expect(answer.status).toBe(201)
    expect(await read('escaped')).toContain(`"data":"${'A'.repeat(count)}",`)
  })

  // proves H49
  test.each([
    ['an SQL quote', "'; DROP TABLE tokens; --"],
    ['markup', '<script>alert(1)</script>'],
    ['a path', '../../../../etc/passwd'],
    ['line ends', 'a\r\nSet-Cookie: b=c\r\n\r\n'],
    ['line separators', 'a\u2028b\u2029c'],
    ['escapes of a terminal', '\u001b[31mred\u001b[0m'],
    ['letters with many marks', `Z${'\u0341'.repeat(50)}`],
    ['emoji in sequence', '👩‍👩‍👧‍👦🏳️‍🌈'],
    ['the replacement character', '\ufffd'],
    ['noncharacters', '\ufffe\uffff\u{1fffe}'],
    ['spaces of every kind', '\u00a0\u1680\u2003\u3000\ufeff '],
  ])('H48, H49: %s, in data and in metadata', async (name, text) => {
    const id = name.replaceAll(' ', '-')
    const body = JSON.stringify({ id, type: 'token', data: text, metadata: { text } })
    expect((await post(body)).status).toBe(201)
    expect(JSON.parse(await read(id))).toMatchObject({ data: text, metadata: { text } })
    expect(wire.vault.logged).toEqual([])
  })
})

/** Strict texts that our own rule refuses: contract section 1, duplicate keys. */
const refusedByRule = ['y_object_duplicated_key.json', 'y_object_duplicated_key_and_value.json']

describeVectors('the JSON test suite over the wire', () => {
  const files = readVectors('json-test-suite')

  test('is whole', () => {
    expect(files.length).toBe(318)
  })

  // proves H30
  test('as a body none of it is a token', async () => {
    for (const [name, bytes] of files) {
      const { status } = await post(bytes.length === 0 ? ' ' : bytes)
      expect([name, status]).toEqual([name, 400])
    }
    await expectUnharmed(wire)
  })

  const ask = async (name: string, bytes: Uint8Array) => {
    const id = name.replace(/[^A-Za-z0-9]/g, '-')
    const [before = '', after = ''] = token(id, '|').split('|')
    const answer = await post(Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]))
    return { id, answer }
  }

  // proves C1.9, H30
  test('as data what is not JSON is refused', async () => {
    for (const [name, bytes] of files.filter(([name]) => name.startsWith('n_'))) {
      const { answer } = await ask(name, bytes)
      expect([name, answer.status]).toEqual([name, 400])
    }
    await expectUnharmed(wire)
  })

  // proves C1.8, H31
  test('as data what is JSON comes back exactly, but for duplicate names and null', async () => {
    for (const [name, bytes] of files.filter(([name]) => name.startsWith('y_'))) {
      const { id, answer } = await ask(name, bytes)
      const isRefused = refusedByRule.includes(name) || name === 'y_structure_lonely_null.json'
      expect([name, answer.status]).toEqual([name, isRefused ? 400 : 201])
      if (isRefused) continue
      expect(await read(id)).toContain(`"data":${printJson(parseJson(decodeUtf8(bytes)))},`)
    }
    await expectUnharmed(wire)
  })

  test('as data what is left open is kept or refused, and never breaks anything', async () => {
    for (const [name, bytes] of files.filter(([name]) => name.startsWith('i_'))) {
      const { answer } = await ask(name, bytes)
      expect([name, [201, 400].includes(answer.status)]).toEqual([name, true])
      expect(jsonOf(answer)).toBeDefined()
    }
    await expectUnharmed(wire)
  })
})

test('a refusal that ends its connection says nothing of how long that is kept', async () => {
  const vault = await openTestVault(84)
  const app = buildApp({ ...vault.deps, keepAliveSeconds: 75 })
  const fieldsOf = ({ headers }: Response) => [headers.get('connection'), headers.get('keep-alive')]
  const key = await vault.application({ type: 'private', permissions: ['token:create'] })
  const tooLong = ' '.repeat(vault.deps.settings.bodyBytesMax + 1)
  const send = (raw: string) => app.handle(requestOf('POST', '/tokens', { key, raw }))
  expect(fieldsOf(await send('{'))).toEqual(['keep-alive', 'timeout=75'])
  const refused = await send(tooLong)
  expect(refused.status).toBe(413)
  expect(fieldsOf(refused)).toEqual(['close', null])
})
