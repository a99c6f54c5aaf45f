/**
 * Requests of every kind as raw text, and their answers in comparable form: a change of the server
 * or its framework must leave them equal byte for byte, except for trace ids and dates.
 * @module
 */
import { urlBytesMax } from '../../src/limits/limits.ts'
import { exchange, openWire, requestText, type Wire } from './wire.ts'

const kept = '/tokens/order-1'

const targets: readonly string[] = [
  kept,
  `${kept}/`,
  `${kept}//`,
  '/tokens',
  '/tokens/',
  '//tokens',
  '/tokens//order-1',
  '/tokens/./order-1',
  '/tokens/../tokens/order-1',
  '/tokens/x/../order-1',
  '/tokens/..',
  '/tokens/.',
  '/tokens/%2e%2e/tokens/order-1',
  '/tokens/x/%2e%2e/order-1',
  '/tokens/%2E/order-1',
  '/tokens/..%2ftokens%2forder-1',
  '/%74okens/order-1',
  '/tokens/order%2d1',
  '/tokens/order-1%2f',
  '/tokens%2forder-1',
  '/tokens/%252e%252e/order-1',
  '/tokens/%',
  '/tokens/%zz',
  '/tokens/%ff',
  '/tokens/%00',
  '/tokens\\order-1',
  '/tokens/x\\..\\order-1',
  '/\\tokens',
  '/TOKENS/order-1',
  '/tokens/order-1#x',
  '/tokens/order-1;v=1',
  '/nowhere',
  '/',
  'http://vault/tokens/order-1',
  'http://elsewhere:81/tokens/order-1?x=1',
  'http://vault',
  'tokens/order-1',
  '*',
  `/tokens/${'x'.repeat(urlBytesMax)}`,
  '/tokens/search',
  '/applications/key',
  '/permissions',
]

const queries: readonly string[] = [
  '?',
  '?&&',
  '?page=1&page=2',
  '?page=0',
  '?size=x',
  '?size=1000',
  '?unknown=1',
  '?id=order-1&id=order-2',
  '?id=order%2d1',
  '?id=%zz',
  '?id=%ff',
  '?metadata.a=1&metadata.a=2',
  '?type=card&type=token',
  '?start=',
  '?start=x',
  '?id=a+b',
]

const json = { 'Content-Type': 'application/json' }
const patch = { 'Content-Type': 'application/merge-patch+json' }
const token = (more: object = {}) => JSON.stringify({ type: 'token', data: 'value', ...more })
const once = { ...json, 'SVC-IDEMPOTENCY-KEY': 'once' }
const preflight = {
  Origin: 'https://shop.example',
  'Access-Control-Request-Method': 'POST',
  'Access-Control-Request-Headers': 'svc-api-key',
}

type Named = readonly [name: string, text: string]

const bodiesFor = (key: string): readonly Named[] => {
  const to = (
    name: string,
    method: string,
    target: string,
    headers: Readonly<Record<string, string>>,
    body = '',
  ): Named => [
    name,
    requestText(method, target, { Connection: 'close', 'SVC-API-KEY': key, ...headers }, body),
  ]
  const post = (name: string, body: string, headers: Readonly<Record<string, string>> = json) =>
    to(`POST ${name}`, 'POST', '/tokens', headers, body)
  return [
    post('a token', token({ id: 'made-1' })),
    post('an id that is taken', token({ id: 'made-1' })),
    post('once', token({ id: 'made-2' }), once),
    post('once more', token({ id: 'made-2' }), once),
    post('once, something else', token({ id: 'made-3' }), once),
    post('nothing', ''),
    post('no JSON', '{"type":'),
    post('a list', '[]'),
    post('a member twice', '{"type":"token","type":"card","data":1}'),
    post('an unknown type', token({ type: 'nothing' })),
    post('no data', '{"type":"token"}'),
    post('a misspelled member', token({ expires_in: 3 })),
    post('a mask that fails to parse', token({ mask: '{{ data | ' })),
    post('another type of content', token(), { 'Content-Type': 'text/plain' }),
    post('no type of content', token(), {}),
    post('a content coding', token(), { ...json, 'Content-Encoding': 'gzip' }),
    post('a length that is too long', '', { ...json, 'Content-Length': '9999999999' }),
    post('a bulk', JSON.stringify([{ type: 'token', data: 1 }]), json),
    to('PATCH metadata', 'PATCH', kept, patch, '{"metadata":{"a":"1"}}'),
    to('PATCH as JSON', 'PATCH', kept, json, '{"metadata":{"a":"1"}}'),
    to('PATCH nobody', 'PATCH', '/tokens/nobody', patch, '{"metadata":{"a":"1"}}'),
    to('POST a search', 'POST', '/tokens/search', json, '{"query":"type:token"}'),
    to('POST a bad search', 'POST', '/tokens/search', json, '{"query":"type:"}'),
    to('POST tokenize', 'POST', '/tokenize', json, '{"a":["x",null,{"type":"token","data":1}]}'),
    to('POST detokenize', 'POST', '/detokenize', json, '{"a":"{{ order-1 }}"}'),
    to('POST an application', 'POST', '/applications', json, '{"name":"x","type":"public"}'),
    to('DELETE', 'DELETE', '/tokens/made-1', {}),
    to('DELETE again', 'DELETE', '/tokens/made-1', {}),
    to('DELETE with a body', 'DELETE', '/tokens/made-2', json, '{}'),
    to('OPTIONS of a browser', 'OPTIONS', '/tokens', preflight),
    to('GET of a browser', 'GET', kept, { Origin: 'https://shop.example' }),
    to('GET with a trace id', 'GET', kept, { 'SVC-TRACE-ID': 'mine' }),
    to('GET with a body', 'GET', kept, json, '{"x":1}'),
    to('GET by a wrong key', 'GET', kept, { 'SVC-API-KEY': 'key_wrong' }),
    to('GET by an empty key', 'GET', kept, { 'SVC-API-KEY': '' }),
    to('GET of another type', 'GET', kept, { Accept: 'text/html' }),
    to('GET of a host that is none', 'GET', kept, { Host: 'a b' }),
    to('GET of no host', 'GET', kept, { Host: '' }),
  ]
}

const methods = ['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'POST']
const methodTargets = ['/tokens', '/nowhere', '/applications/key', '/tokens/nobody']

/** Joins request lines, and adds the body. */
const lines = (given: readonly string[], body = ''): string =>
  `${given.join('\r\n')}\r\n\r\n${body}`

function framesFor(key: string): readonly Named[] {
  const host = 'Host: vault'
  const by = [`SVC-API-KEY: ${key}`]
  const last = [...by, 'Connection: close']
  const get = `GET ${kept} HTTP/1.1`
  const post = ['POST /tokens HTTP/1.1', host, 'Content-Type: application/json']
  const lengths = ['Content-Length: 2', 'Content-Length: 3']
  return [
    ['HTTP/1.0 without Host', lines([`GET ${kept} HTTP/1.0`, ...by])],
    ['HTTP/1.0 with Host', lines([`GET ${kept} HTTP/1.0`, host, ...by])],
    ['HTTP/1.1 without Host', lines([get, ...last])],
    ['two hosts', lines([get, host, host, ...last])],
    ['HTTP/2.0', lines([`GET ${kept} HTTP/2.0`, host, ...last])],
    ['no version', lines([`GET ${kept}`])],
    ['an unknown method', lines([`FETCH ${kept} HTTP/1.1`, host, ...last])],
    ['a space before a colon', lines([get, host, 'X : y', ...last])],
    ['two lengths', lines([...post, ...lengths, ...last], '{}')],
    [
      'a body in chunks',
      lines([...post, 'Transfer-Encoding: chunked', ...last], '2\r\n{}\r\n0\r\n\r\n'),
    ],
    [
      'two requests at once',
      lines(['GET /applications/key HTTP/1.1', host, ...by]) +
        lines(['GET /nowhere HTTP/1.1', host, ...last]),
    ],
  ]
}

/** All of them, in the order of sending. */
function requestsFor(key: string): readonly Named[] {
  const ask = (method: string, target: string): Named => [
    `${method} ${target.slice(0, 60)}`,
    requestText(method, target, { 'SVC-API-KEY': key, Connection: 'close' }),
  ]
  return [
    ...targets.map(target => ask('GET', target)),
    ...queries.map(query => ask('GET', `/tokens${query}`)),
    ...methodTargets.flatMap(target => methods.map(method => ask(method, target))),
    ['GET without a key', requestText('GET', kept, { Connection: 'close' })],
    ...framesFor(key),
    ...bodiesFor(key),
  ]
}

/** Removes the parts that vary with time. */
const comparable = (text: string): string =>
  text
    .replaceAll(/^date: .*$/gim, 'date: -')
    .replaceAll(/^svc-trace-id: (?!mine).*$/gim, 'svc-trace-id: -')
    .replaceAll(/urn:trace:(?!mine)[^"]*/g, 'urn:trace:-')

/** @returns by the request's name, all bytes received until the connection ended */
export async function askAll(wire: Wire): Promise<Readonly<Record<string, string>>> {
  await wire.ask('POST', '/tokens', token({ id: 'order-1', metadata: { a: '1' } }))
  const answers: Record<string, string> = {}
  for (const [name, text] of requestsFor(wire.key)) {
    const { text: answer } = await exchange(wire.port, text, Number.POSITIVE_INFINITY)
    answers[name] = comparable(answer)
  }
  return answers
}

/** A vault whose ids, keys and times are the same each time. */
export const openRawWire = (): Promise<Wire> => openWire(700)
