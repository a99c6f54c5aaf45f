/**
 * What goes wrong with card fields.
 * @module
 */
import type { ElementsErrorCode, Failure, FieldName } from '../protocol.ts'

/** Holds nothing of what was typed. */
export class ElementsError extends Error {
  override readonly name = 'ElementsError'
  readonly code: ElementsErrorCode
  /** Which are wrong, where the card is. */
  readonly fields: readonly FieldName[]
  /** What the vault answered; 0 where it was not asked, or no answer came. */
  readonly status: number
  /** Under which the log of the vault has the request. */
  readonly traceId: string | undefined

  constructor({ code, message, fields = [], status = 0, traceId }: Failure) {
    super(message)
    this.code = code
    this.fields = fields
    this.status = status
    this.traceId = traceId
  }
}

/** @throws ElementsError */
export function refuse(message: string): never {
  throw new ElementsError({ code: 'invalid_options', message: `mountCard: ${message}` })
}
