/**
 * Text that must not be printed: API keys, nonces, the master key.
 *
 * Printing, logging or serialising one shows `[secret]`; `reveal` is the one way out, and easy to
 * search for.
 * @module
 */
import { inspect } from 'node:util'

const shown = '[secret]'

export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  reveal(): string {
    return this.#text
  }

  toString(): string {
    return shown
  }

  toJSON(): string {
    return shown
  }

  [inspect.custom](): string {
    return shown
  }
}
