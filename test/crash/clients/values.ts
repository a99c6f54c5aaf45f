/**
 * Contents of tokens: all of it follows from an id, an operation number and a round, so that a
 * wrong, an older or a mixed value can be told from the one that was written.
 * @module
 */
/** Most are `token`, the only type with search indexes here. */
export const types = ['token', 'token', 'token', 'card_number', 'us_bank_account_number'] as const
export type TokenType = (typeof types)[number]

/** Facts that determine the content of a token. */
export interface Written {
  readonly id: string
  readonly type: TokenType
  readonly op: number
  readonly round: number
}

/** Members of a token in an answer that are checked here. */
export interface Shown {
  readonly id: string
  readonly data?: unknown
  readonly metadata?: Readonly<Record<string, string>>
}

const largeEvery = 41
const hugeEvery = 397

const sumOf = ({ id, op, round }: Written): string => Bun.hash(`${id}|${op}|${round}`).toString(36)

/** Most share a page of the engine with others; some need several pages of their own. */
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

/** Returns the one write that a shown token holds in full; `undefined` if there is none. */
export function readWritten(type: TokenType, { id, data, metadata }: Shown): Written | undefined {
  const op = Number(metadata?.['op'])
  const round = Number(metadata?.['round'])
  // A client that lets the vault choose the id does not know it when it writes.
  return [id, '']
    .map(of => ({ id: of, type, op, round }))
    .find(
      written =>
        Bun.deepEquals(data, dataOf(written)) && Bun.deepEquals(metadata, metadataOf(written)),
    )
}
