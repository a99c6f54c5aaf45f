/**
 * Reads an answer: its content, or its error.
 * @module
 */
import type { RawAnswer, Call, Wire } from './call.ts'
import { codeOf, CofferError } from './error.ts'
import { errorsIn } from './shapes.ts'

/** Text of the vault if it has no such operation. */
const nothingHere = 'There is nothing at this address.'
const jsonType = /^application\/(?:problem\+)?json\b/
const linesType = /^application\/x-ndjson\b/

function parse({ json = JSON }: Wire, text: string): unknown {
  try {
    return text === '' ? undefined : json.parse(text)
  } catch {
    return undefined
  }
}

export const notCoffer = ({ address }: Wire, status: number): CofferError =>
  new CofferError(`what answers at ${address} is no Coffer: is the address right?`, {
    status,
    code: 'not_coffer',
  })

export const traceOf = (headers: Headers): string | undefined =>
  headers.get('svc-trace-id') ?? undefined

interface Problem {
  readonly detail?: unknown
  readonly errors?: unknown
}

/** Returns the error of an answer that is no success. */
export function errorOf(wire: Wire, call: Call, { status, headers, text }: RawAnswer): CofferError {
  const problem = parse(wire, text) as Problem | null | undefined
  const { detail, errors } = problem ?? {}
  const traceId = traceOf(headers)
  // A gateway's own answer says nothing of what the vault has.
  const isForeign = traceId === undefined && (status === 404 || status === 409)
  if (typeof detail !== 'string' || isForeign) return notCoffer(wire, status)
  const facts = { status, errors: errorsIn(errors), traceId }
  if (detail !== nothingHere) {
    return new CofferError(detail, { ...facts, code: codeOf(status) })
  }
  const asked = `${call.method} ${call.path.split(/[/?]/, 2).join('/')}`
  const message =
    `the Coffer at ${wire.address} does not know ${asked}: ` +
    'it is of another version, or the address lacks its base path'
  return new CofferError(message, { ...facts, code: 'other_version' })
}

/** Returns the content of a success. @throws CofferError if no vault answered */
export function contentOf(wire: Wire, { status, headers, text }: RawAnswer): unknown {
  if (text === '') {
    // Such an answer, from a proxy perhaps, has stored and deleted nothing.
    if (traceOf(headers) === undefined) throw notCoffer(wire, status)
    return undefined
  }
  const type = headers.get('content-type') ?? ''
  if (linesType.test(type)) {
    return text
      .trimEnd()
      .split('\n')
      .map(line => parse(wire, line))
  }
  const parsed = jsonType.test(type) ? parse(wire, text) : undefined
  if (parsed === undefined) throw notCoffer(wire, status)
  return parsed
}
