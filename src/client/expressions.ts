/**
 * Operations on expressions.
 * @module
 */
import type { Ask } from './ask.ts'
import type { Answer, CallOptions } from './call.ts'
import type { CreateTokenRequest, TokenPreview } from './interface.ts'

/** Evaluates expressions, for a management application with `expression:preview`. */
export interface Expressions {
  /**
   * Evaluates the expressions of a token on sample data, without storing it.
   *
   * @throws CofferError `invalid_request` with what is wrong by its path, `forbidden`
   * @example
   * const { data, fingerprint_text } = await manager.expressions.preview({
   *   type: 'token',
   *   data: { email: 'ada@example.com' },
   *   mask: '{{ data.email | reveal_last: 4 }}',
   * })
   */
  preview(token: CreateTokenRequest, options?: CallOptions): Answer<TokenPreview>
}

/** @internal */
export const expressionOperations = (ask: Ask): Expressions => ({
  preview: (token, options) => ask.plain('POST', '/expressions/preview', token, options),
})
