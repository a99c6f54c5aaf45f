/**
 * The trace id: in every answer, and the caller's own where it is one. Contract section 1;
 * hardening T32.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { bodyBytesMax, traceIdCharsMax, urlBytesMax } from '../../src/limits/limits.ts'
import { openWire, requestText, type Wire } from '../support/wire.ts'

let wire: Wire
beforeAll(async () => {
  wire = await openWire(145)
})
afterAll(() => wire.close())

/** One request for each way to be answered, and the status that says so. */
const requests = (key: string, trace: Readonly<Record<string, string>>) => {
  const own = { ...trace, 'SVC-API-KEY': key }
  const json = { ...own, 'Content-Type': 'application/json' }
  const long = { ...json, 'Content-Length': String(bodyBytesMax + 1) }
  const preflight = { ...trace, Origin: 'https://a.example', 'Access-Control-Request-Method': 'X' }
  return [
    [200, requestText('GET', '/tokens', own)],
    [200, requestText('GET', '/swagger', trace)],
    [201, requestText('POST', '/tokens', json, '{"type":"token","data":1}')],
    [204, requestText('OPTIONS', '/tokens', trace)],
    [204, requestText('OPTIONS', '/tokens', preflight)],
    [400, requestText('POST', '/tokens', json, '[')],
    [401, requestText('GET', '/tokens', trace)],
    [403, requestText('GET', '/applications', own)],
    [404, requestText('GET', '/tokens/absent', own)],
    [404, requestText('GET', '/absent', trace)],
    [405, requestText('PUT', '/tokens', trace)],
    [413, requestText('POST', '/tokens', long)],
    [414, requestText('GET', `/${'a'.repeat(urlBytesMax)}`, trace)],
    [415, requestText('POST', '/tokens', own, '[')],
  ] as const
}

describe('the trace id', () => {
  // proves C1.31, C2.8
  test('of the caller is in every answer, and in its problem', async () => {
    const trace = '!trace~'.repeat(14).padEnd(traceIdCharsMax, '.')
    for (const [status, text] of requests(wire.key, { 'SVC-TRACE-ID': trace })) {
      const [answer] = (await wire.send(text)).answers
      expect([status, answer?.status]).toEqual([status, status])
      expect([status, answer?.headers.get('svc-trace-id')]).toEqual([status, trace])
      if (status < 400) continue
      expect(answer?.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
      expect(JSON.parse(answer?.body ?? '')).toMatchObject({ instance: `urn:trace:${trace}` })
    }
  })

  // proves C1.32
  test('is made where none is sent, a new one each time', async () => {
    const seen = new Set<string>()
    for (const [, text] of requests(wire.key, {})) {
      const trace = (await wire.send(text)).answers[0]?.headers.get('svc-trace-id') ?? ''
      expect(trace).toMatch(/^[0-9a-f]{16}-[0-9a-z]+$/)
      expect(seen.has(trace)).toBe(false)
      seen.add(trace)
    }
  })

  // proves C1.32, S43
  test('that is made counts no requests', async () => {
    const ask = async () =>
      (await wire.send(requestText('GET', '/tokens', {}))).answers[0]?.headers.get('svc-trace-id')
    const drawn = new Set<string>()
    for (let asked = 0; asked < 70; asked += 1) {
      const [, letters = ''] = String(await ask()).split('-')
      expect(letters).toMatch(/^[a-p]{16}$/)
      drawn.add(letters.slice(0, 8)).add(letters.slice(8))
    }
    expect(drawn.size).toBe(140)
  })

  // proves C1.31
  test.each([
    ['too long', 'a'.repeat(traceIdCharsMax + 1)],
    ['empty', ''],
    ['two words', 'two words'],
    ['no ASCII', 'caf\u00e9'],
    ['with a tab in it', 'a\tb'],
    ['sent twice', 'a\r\nSVC-TRACE-ID: b'],
  ])('is made where the one that is sent is %s', async (_name, trace) => {
    const text = requestText('GET', '/tokens', { 'SVC-TRACE-ID': trace })
    const [answer] = (await wire.send(Buffer.from(text, 'latin1'))).answers
    expect(answer?.headers.get('svc-trace-id') ?? '').toMatch(/^[0-9a-f]{16}-[0-9a-z]+$/)
  })
})
