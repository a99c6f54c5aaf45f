/**
 * Checks options before anything is sent.
 * @module
 */
import type { CallOptions, HeaderTexts, Notation } from './call.ts'
import { timeoutMsMax } from './limits.ts'

/** Headers that the client sets itself, or that frame a message. */
const ownHeaders =
  /^(?:svc-.*|accept(?:-encoding)?|content-(?:type|length)|host|connection|transfer-encoding)$/i

const fault = (where: string, expected: string): TypeError =>
  new TypeError(`${where}: expected ${expected}`)

/**
 * @param most  default: no bound
 * @throws TypeError which does not repeat the value
 */
export function assertWhole(where: string, value: unknown, least: number, most = Infinity): void {
  const isIn = Number.isInteger(value) && Number(value) >= least && Number(value) <= most
  if (isIn) return
  const bounds = most === Infinity ? `${least} or more` : `${least} to ${most}`
  throw fault(where, `a whole number, ${bounds}`)
}

/** @throws TypeError for a value that is no function */
export function assertFunction(where: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'function') throw fault(where, 'a function')
}

/** @throws TypeError for a value that lacks the methods of `JSON` */
export function assertNotation(where: string, value: unknown): void {
  const { parse, stringify } = (value ?? {}) as Partial<Notation>
  const isOne = typeof parse === 'function' && typeof stringify === 'function'
  if (value !== undefined && !isOne) throw fault(where, 'parse and stringify, as JSON has them')
}

/** @throws TypeError for an unknown option, which would do nothing, in silence */
export function assertKnown(where: string, options: object, names: readonly string[]): void {
  const isObject = typeof options === 'object' && options !== null
  if (isObject && Object.keys(options).every(name => names.includes(name))) return
  throw fault(where, `no options but ${names.join(', ')}`)
}

/** @throws TypeError for an invalid header, or one that the client sets itself */
function assertHeaders(headers: HeaderTexts): void {
  for (const [at, [name, value]] of Object.entries(headers).entries()) {
    const where = `headers, number ${at + 1}`
    if (ownHeaders.test(name)) throw fault(where, 'no header that the client sets by itself')
    try {
      if (typeof value !== 'string') throw new Error('no text')
      new Headers([[name, value]])
    } catch {
      throw fault(where, 'a name and a text as HTTP takes them')
    }
  }
}

const callNames = [
  'signal',
  'timeoutMs',
  'retries',
  'idempotencyKey',
  'traceId',
  'reason',
  'headers',
]

/** @throws TypeError */
export function assertAttempts({ timeoutMs = 1, retries = 0, headers = {} }: CallOptions): void {
  assertWhole('timeoutMs', timeoutMs, 1, timeoutMsMax)
  assertWhole('retries', retries, 0)
  assertHeaders(headers)
}

const isReason = (reason: unknown): boolean =>
  typeof reason === 'string' && reason.trim() !== '' && !/\p{Cs}/u.test(reason)

/** @throws TypeError */
export function assertCallOptions(options: CallOptions): void {
  assertKnown('options of a call', options, callNames)
  assertAttempts(options)
  const { signal, reason } = options
  if (reason !== undefined && !isReason(reason)) throw fault('reason', 'a text with characters')
  if (signal !== undefined && typeof signal?.throwIfAborted !== 'function') {
    throw fault('signal', 'an AbortSignal')
  }
}
