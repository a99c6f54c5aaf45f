/**
 * The guard of ids on its own: what it asks of an id, and how much work it may make.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { tokenTypeOf } from '../../../../src/rules/token-types.ts'
import { defaultSettings } from '../../../../src/settings/settings.ts'
import { idSourceOf } from '../../../../src/tokens/write/id-source.ts'
import { seededBytes } from '../../../support/seeded.ts'
import { expectRefusal } from '../../../support/refusal.ts'

const type = tokenTypeOf('card_number')
if (type === undefined) throw new Error('there is a type card_number')
const number = '4242424242424242'

const noOther = () => {
  throw new Error('no other id is asked for')
}

describe('the guard of an alias', () => {
  test('draws each probe alike, so that chance neither hides nor shows a digit', () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const deps = { randomBytes: seededBytes(seed), settings: defaultSettings }
      const source = idSourceOf(deps, noOther, '{{ data | alias_card: true, true }}', type, number)
      expect(source(0)?.id).toMatch(/^42424242[0-9]{4}4242$/)
      const shown = "{{ data | alias_preserve_format: 1 }}{{ data | replace: '4', 'x' }}"
      expectRefusal(() => idSourceOf(deps, noOther, shown, type, number), ['id'], [number])
    }
  })

  test('holds also where the source of chance uses its memory again', () => {
    const bytes = seededBytes(7)
    const memory = new Uint8Array(64)
    const randomBytes = (count: number) => {
      memory.set(bytes(count))
      return memory.subarray(0, count)
    }
    const deps = { randomBytes, settings: defaultSettings }
    const two = '{{ data | alias_card }}-{{ data | alias_card }}'
    expect(idSourceOf(deps, noOther, two, type, number)(0)?.id).toMatch(/^[0-9]{16}-[0-9]{16}$/)
  })
})
