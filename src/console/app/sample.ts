/**
 * A sample token as a person types it, and the body that asks for its preview.
 * @module
 */
import type { TokenType } from '../../client/interface.ts'
import { parseExact } from './exact-json.ts'

/** Fields as they are typed. */
export interface Sample {
  readonly type: TokenType
  readonly data: string
  readonly mask: string
  readonly id: string
  /** One expression a line. */
  readonly search_indexes: string
  readonly fingerprint_expression: string
  readonly metadata: string
}

export type SampleField = keyof Sample

/** Expectations by the field that they are about. */
export type SampleFaults = Partial<Record<SampleField, string>>

/** All types of tokens. */
export const sampleTypes: readonly TokenType[] = [
  'token',
  'card',
  'bank',
  'card_number',
  'us_bank_account_number',
  'us_bank_routing_number',
  'social_security_number',
  'employer_id_number',
  'email',
  'phone',
  'iban',
  'name',
  'address',
  'date_of_birth',
]

/** Types whose data is JSON; that of all others is a text as it stands. */
const jsonTypes: readonly string[] = ['token', 'card', 'bank', 'name', 'address']

const notJson = 'expected JSON, such as {"email": "ada@example.com"} or "a text"'

/** @returns `undefined` for a text that is no JSON */
function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseExact(text) }
  } catch {
    return undefined
  }
}

/** An expression as it stands, or JSON whose leaves are expressions; `null` is no mask. */
function maskOf(text: string): { readonly value: unknown } | undefined {
  const isJson = /^(?:\{(?!\{)|\[|null$)/.test(text)
  return isJson ? parsed(text) : { value: text }
}

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')

export type SampleBody =
  | { readonly body: object; readonly faults?: never }
  | { readonly faults: SampleFaults; readonly body?: never }

/** Fields that are empty are left out, as a create may leave them out. */
export function bodyOf(sample: Sample): SampleBody {
  const { type, search_indexes: indexes, fingerprint_expression: fingerprint, id } = sample
  const data = jsonTypes.includes(type) ? parsed(sample.data) : { value: sample.data }
  const mask = maskOf(sample.mask.trim())
  const metadata = sample.metadata.trim() === '' ? { value: '' } : parsed(sample.metadata)
  if (data === undefined || mask === undefined || metadata === undefined) {
    return {
      faults: {
        ...(data === undefined ? { data: notJson } : {}),
        ...(mask === undefined ? { mask: notJson } : {}),
        ...(metadata === undefined ? { metadata: 'expected JSON, such as {"order": "17"}' } : {}),
      },
    }
  }
  const given = Object.entries({
    id,
    mask: mask.value,
    metadata: metadata.value,
    fingerprint_expression: fingerprint,
  }).filter(([, value]) => value !== '')
  const lines = linesOf(indexes)
  const searched = lines.length === 0 ? {} : { search_indexes: lines }
  return { body: { type, data: data.value, ...Object.fromEntries(given), ...searched } }
}

/** Sorts what the vault has said by the fields that it is about. */
export function faultsOf(errors: Readonly<Record<string, readonly string[]>>): SampleFaults {
  const faults: Record<string, string> = {}
  for (const [path, says] of Object.entries(errors)) {
    const [field = ''] = path.split(/[.[]/)
    const where = path === field ? '' : `${path}: `
    const said = where + says.join(', ')
    faults[field] = faults[field] === undefined ? said : `${faults[field]}; ${said}`
  }
  return faults
}
