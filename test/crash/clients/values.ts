/**
 * What tokens hold: all of it follows from an id, the number of an operation and a round, so that
 * a wrong, an older or a mixed value is told from the one that was written.
 * @module
 */
/** Most are `token`, which alone has search indexes here. */
export const types = ['token', 'token', 'token', 'card_number', 'us_bank_account_number'] as const
export type TokenType = (typeof types)[number]

/** What was written by one operation. */
export interface Written {
  readonly id: string
  readonly type: TokenType
  readonly op: number
  readonly round: number
}

/** A token as the vault shows it, of what is looked at here. */
export interface Shown {
  readonly id: string
  readonly data?: unknown
  readonly metadata?: Readonly<Record<string, string>>
}

const largeEvery = 41
const hugeEvery = 397

const sumOf = ({ id, op, round }: Written): string => Bun.hash(`${id}|${op}|${round}`).toString(36)

/** Most fit into a page of the engine with others; some need several pages of their own. */
function padLength(op: number): number {
  if (op % hugeEvery === 0) return 60_000
  return op % largeEvery === 0 ? 6_000 : op % 200
}

function luhnDigit(digits: string): number {
  let sum = 0
  for (let at = digits.length - 1, doubles = true; at >= 0; at -= 1, doubles = !doubles) {
    const value = Number(digits[at]) * (doubles ? 2 : 1)
    sum += value > 9 ? value - 9 : value
  }
  return (10 - (sum % 10)) % 10
}

export function dataOf(written: Written): unknown {
  const { type, op } = written
  const digits = String(op).padStart(15, '0')
  if (type === 'card_number') return `${digits}${luhnDigit(digits)}`
  if (type === 'us_bank_account_number') return digits
  const sum = sumOf(written)
  return { op, sum, pad: sum.repeat(Math.ceil(padLength(op) / sum.length)) }
}

export const metadataOf = (written: Written): Readonly<Record<string, string>> => ({
  op: String(written.op),
  round: String(written.round),
  sum: sumOf(written),
})

/** What a shown token is whole of; `undefined` when it is mixed, or of another token. */
export function readWritten(type: TokenType, { id, data, metadata }: Shown): Written | undefined {
  const op = Number(metadata?.['op'])
  const round = Number(metadata?.['round'])
  // Anyone who lets the vault choose the id writes before it is known.
  return [id, '']
    .map(of => ({ id: of, type, op, round }))
    .find(
      written =>
        Bun.deepEquals(data, dataOf(written)) && Bun.deepEquals(metadata, metadataOf(written)),
    )
}
