/**
 * Makes bad requests from a good one: with a mark at each wrong place, in its path, query, headers,
 * method and anywhere in its body. Length and form stay right, so that each request gets as far as
 * it can.
 * @module
 */
import { mark, numberOf } from './marks.ts'
import type { Sent } from './requests.ts'

/** A request as it is written to a connection; `Content-Length` is added. */
export interface Written {
  /** The request's fault. */
  readonly fault: string
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
}

export type Keys = Readonly<Record<Sent['as'], string>>

const jsonTypes: Readonly<Record<string, string>> = { PATCH: 'application/merge-patch+json' }

/** Returns the request as a client sends it. */
export function write({ method, target, as, body, headers }: Sent, keys: Keys): Written {
  const type = { 'Content-Type': jsonTypes[method] ?? 'application/json' }
  return {
    fault: 'none',
    method,
    target,
    headers: { 'SVC-API-KEY': keys[as], ...(body === undefined ? {} : type), ...headers },
    body: body === undefined ? '' : JSON.stringify(body),
  }
}

/** A JSON number, which cannot contain a mark. */
const cardNumber = Number(numberOf('a card number'))

const wrongValues = (): readonly (readonly [string, unknown])[] => [
  ['a text', mark()],
  ['a long text', mark().repeat(100)],
  ['a card number', cardNumber],
  ['a list', [mark(), [mark()]]],
  ['an object', { [mark()]: { [mark()]: mark() } }],
  ['an expression', `{{ ${mark()} }}`],
  ['an open expression', `{{ data | ${mark()}`],
  ['a lone surrogate', `${mark()}\ud800`],
]

/** Yields all bodies with one place changed, and the change. */
function* changedBodies(value: unknown): Generator<readonly [string, unknown]> {
  yield* wrongValues()
  if (typeof value !== 'object' || value === null) return
  const isArray = Array.isArray(value)
  const members = Object.entries(value)
  for (const [name, member] of members) {
    const others = members.filter(([other]) => other !== name)
    if (!isArray) yield ['a renamed member', Object.fromEntries([...others, [mark(), member]])]
    for (const [fault, changed] of changedBodies(member)) {
      const all = members.map(each => (each[0] === name ? [name, changed] : each))
      yield [fault, isArray ? all.map(([, each]) => each) : Object.fromEntries(all)]
    }
  }
  if (!isArray) yield ['a new member', { ...value, [mark()]: mark() }]
}

/** Bodies that are no JSON, or not quite. */
const brokenTexts = (text: string): readonly (readonly [string, string | Buffer])[] => [
  ['a mark', mark()],
  ['a text', JSON.stringify(mark())],
  ['cut in the middle', text.slice(0, text.length >> 1)],
  ['cut at the end', text.slice(0, -1)],
  ['text after it', `${text} ${mark()}`],
  ['text before it', `${mark()}${text}`],
  ['a byte order mark', `\ufeff${text}`],
  ['a member twice', text.replace('{', `{"${mark()}":1,"${mark()}":"${mark()}",`)],
  ['the same member twice', text.replace('{', `{"name":"${mark()}","name":"${mark()}",`)],
  ['an unknown escape', text.replace('{', `{"a":"${mark()}\\x",`)],
  ['a number without end', text.replace('{', `{"a":${'4242424242424242'.repeat(200)},`)],
  ['no UTF-8', Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0x22, 0xff, 0x22])])],
  ['UTF-16', Buffer.from(text, 'utf16le')],
]

const types = (): readonly string[] => [
  mark(),
  `application/${mark()}`,
  'text/plain',
  'application/x-www-form-urlencoded',
  `multipart/form-data; boundary=${mark()}`,
  `application/json; charset=${mark()}`,
  'application/merge-patch+json; charset=utf-16',
]

const keysOf = (key: string): readonly string[] => [
  mark(),
  `key_${mark()}`,
  `key_sess_${mark()}`,
  `${key}${mark()}`,
  `${key}, ${mark()}`,
  mark().repeat(100),
]

/** Headers that the server reads, and headers that it does not. */
const headers = (): readonly (readonly [string, string])[] => [
  ['SVC-IDEMPOTENCY-KEY', `${mark()} ${mark()}`],
  ['SVC-IDEMPOTENCY-KEY', mark().repeat(100)],
  ['SVC-TRACE-ID', `${mark()} ${mark()}`],
  ['SVC-TRACE-ID', mark().repeat(100)],
  ['SVC-TRACE-ID', `${mark()}\u00e9`],
  ['SVC-REASON', `${mark()}%ff`],
  ['SVC-REASON', `${mark()}\u00e9`],
  ['SVC-REASON', `${mark()} ${numberOf('a card number')}`],
  ['SVC-REASON', mark().repeat(100)],
  ['Accept', mark()],
  ['Accept-Language', mark()],
  ['Authorization', `Bearer ${mark()}`],
  ['Cookie', `${mark()}=${mark()}`],
  ['Host', mark()],
  ['If-Match', `"${mark()}"`],
  ['Origin', `https://${mark()}`],
  ['Range', mark()],
  ['Referer', `https://${mark()}/${mark()}`],
  ['User-Agent', mark()],
  ['X-Forwarded-For', mark()],
  ['X-Forwarded-Host', mark()],
  ['Content-Encoding', mark()],
  [mark(), mark()],
]

const targetsOf = (target: string): readonly string[] => {
  const [path = '', search] = target.split('?')
  const rest = search === undefined ? '' : `?${search}`
  return [
    `${path}/${mark()}${rest}`,
    `/${mark()}${target}`,
    `${path.replace(/[^/]+$/, '')}${mark()}${rest}`,
    `${path}%zz${mark()}${rest}`,
    `${path}%00${mark()}${rest}`,
    `${path}/..%2f${mark()}${rest}`,
    `/${path}/${mark()}`,
    `${path}?${mark()}=${mark()}`,
    `${path}?${mark()}=%zz${mark()}`,
    `${path}?%zz${mark()}=1`,
    `${path}?metadata={"${mark()}":`,
    `${path}?metadata.${mark()}=${mark().repeat(50)}`,
    ...['id', 'type', 'container', 'fingerprint', 'page', 'size', 'start', 'mode', 'transform'].map(
      name => `${path}?${name}=${mark()}`,
    ),
  ]
}

const methods = (): readonly string[] => [
  mark().toUpperCase(),
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'QUERY',
]

/** Yields all bad requests from a good one, with new marks each time. */
export function* hostileOf(sent: Sent, keys: Keys): Generator<Written> {
  // With its key, a kept reply would be sent before the fault is seen.
  const { headers: _, ...rest } = sent
  const good = write(rest, keys)
  const text = String(good.body)
  const changed = (fault: string, more: Partial<Written>) => ({ ...good, ...more, fault })
  const withHeader = (name: string, value: string) => ({ ...good.headers, [name]: value })
  if (sent.body !== undefined) {
    for (const [fault, body] of changedBodies(sent.body)) {
      yield changed(`body: ${fault}`, { body: JSON.stringify(body) })
    }
    for (const [fault, body] of brokenTexts(text)) yield changed(`body: ${fault}`, { body })
    for (const type of types()) {
      yield changed('content type', { headers: withHeader('Content-Type', type) })
    }
  }
  for (const key of keysOf(keys[sent.as])) {
    yield changed('key', { headers: withHeader('SVC-API-KEY', key) })
  }
  for (const key of Object.values(keys)) {
    yield changed('another caller', { headers: withHeader('SVC-API-KEY', key) })
  }
  for (const [name, value] of headers()) yield changed(name, { headers: withHeader(name, value) })
  for (const target of targetsOf(sent.target)) yield changed('target', { target })
  for (const method of methods()) yield changed('method', { method })
}
