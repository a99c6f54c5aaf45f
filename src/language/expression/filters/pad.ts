/**
 * Filters that pad to a length: `pad_left`, `pad_right`. Longer text and null stay as they are.
 *
 * Lengths count Unicode code points. Source: contract section 6.
 * @module
 */
import { padLengthMax } from '../../../limits.ts'
import { countCodePoints } from '../code-points.ts'
import {
  characterRule,
  integerAt,
  integerRule,
  textAt,
  type FilterDefinition,
} from './definition.ts'
import { overText } from './mask.ts'

const padFilter = (join: (text: string, padding: string) => string): FilterDefinition => ({
  required: [integerRule(0, padLengthMax), characterRule],
  bind: operands => {
    const length = integerAt(operands, 0)
    const padding = textAt(operands, 1, '')
    return overText(text => {
      // No text has more code points than UTF-16 units, and none fewer than half as many.
      if (text.length >= length * 2) return text
      return join(text, padding.repeat(Math.max(0, length - countCodePoints(text))))
    })
  },
})

export const padLeft = padFilter((text, padding) => padding + text)

export const padRight = padFilter((text, padding) => text + padding)
