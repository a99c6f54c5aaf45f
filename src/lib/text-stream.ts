/**
 * A stream of texts that is asked for each of them.
 * @module
 */

export interface TextStream {
  /** Resolves with the next text, or with `undefined` at the end; soon once the vault ends. */
  readonly next: () => Promise<string | undefined>
  /** Gives back what was taken for it, and has `next` end; may be called again. */
  readonly end: () => void
}
