/**
 * Errors of card fields.
 * @module
 */
import type { ElementsErrorCode, Failure, FieldName } from '../protocol.ts'

/** Holds nothing that was typed. */
export class ElementsError extends Error {
  override readonly name = 'ElementsError'
  readonly code: ElementsErrorCode
  /** Fields with errors, for an invalid card. */
  readonly fields: readonly FieldName[]
  /** Status of the vault's answer; 0 without an answer. */
  readonly status: number
  /** Id of the request in the vault's log. */
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
