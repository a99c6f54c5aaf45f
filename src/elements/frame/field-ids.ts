/**
 * Ids of the fields that nobody knows. A page may set the fragment of the frame's address, and
 * browsers move the caret to the field whose id it names: the code would be typed into the number.
 * @module
 */
import type { PageDocument } from '../dom.ts'
import { fieldIdBytes } from '../limits.ts'
import { fieldNames } from './card.ts'
import { elementOf } from './field.ts'

/** Call it last: afterwards no field is found by its name. */
export function hideIds(page: PageDocument, randomHex: (bytes: number) => string): void {
  for (const name of fieldNames) {
    const input = page.getElementById(name)
    if (input === null) continue
    input.id = `${name}-${randomHex(fieldIdBytes)}`
    elementOf(page, `${name}-label`).setAttribute('for', input.id)
  }
}
