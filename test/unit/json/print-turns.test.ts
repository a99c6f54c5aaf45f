/**
 * Printing in turns gives the texts that printing at once gives, in pieces of counted steps.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseJson } from '../../../src/lib/json/parse-json.ts'
import { printInTurns, printPartsInTurns } from '../../../src/lib/json/print-turns.ts'
import {
  canonical,
  faithful,
  printCanonicalJson,
  printJson,
  type Json,
} from '../../../src/lib/json/json.ts'
import { TextMap } from '../../../src/lib/maps.ts'
import { jsonMembersMax } from '../../../src/limits/limits.ts'
import { jsonTurnChars } from '../../../src/limits/work-limits.ts'
import { json } from '../../support/arbitrary-json.ts'
import { nameKinds, namesOf, printObjects } from '../../support/hostile-names.ts'

const goOn = () => Promise.resolve()

/** Expects the texts of a kept value to equal those of an equal value that was not kept. */
async function expectKept(long: Json, same: Json): Promise<void> {
  await printInTurns(long, goOn)
  for (const { kept } of [faithful, canonical]) expect(kept.has(long as object)).toBe(true)
  expect(printJson(long)).toBe(printJson(same))
  expect(printCanonicalJson(long)).toBe(printCanonicalJson(same))
}

describe('a value that is printed in turns', () => {
  test('has the texts of one that is printed at once, and so has every long part', async () => {
    const filling = 'x'.repeat(jsonTurnChars)
    await fc.assert(
      fc.asyncProperty(json, json, async (one, other) => {
        const part: Json = new Map<string, Json>([
          ['z', one],
          ['filling', filling],
          ['a', other],
        ])
        const long: Json = [one, part, new Map([['part', [part, { numberText: '1.0' }]]]), other]
        const same = parseJson(printJson(long))
        await expectKept(long, same)
        expect(faithful.kept.get(part)).toBe(printJson(new Map(part)))
        expect(canonical.kept.get(part)).toBe(printCanonicalJson(new Map(part)))
      }),
      { numRuns: 100 },
    )
  })

  test.each(nameKinds)('has them with many members: %s', async kind => {
    const text = printObjects(kind, jsonMembersMax, 300_000)
    await expectKept(parseJson(text), parseJson(text))
  })

  test('keeps nothing that is short', async () => {
    const short = parseJson('{"a":[1,{"b":2}]}')
    await printInTurns(short, goOn)
    expect(faithful.kept.has(short as object)).toBe(false)
    expect(canonical.kept.has(short as object)).toBe(false)
  })
})

describe('a body of which parts are printed', () => {
  const long = new Map<string, Json>([['filling', 'x'.repeat(jsonTurnChars)]])
  const short = new Map<string, Json>([['a', 1]])

  test.each<[string, (part: Json) => Json]>([
    ['items', part => [short, part, 'x']],
    ['members', part => new Map([['data', part] as const, ['mask', short] as const])],
  ])('keeps the texts of those that are long, and of none else: %s', async (_, bodyOf) => {
    const part = new Map(long)
    const body = bodyOf(part)
    await printPartsInTurns(body, goOn)
    for (const { kept } of [faithful, canonical]) {
      expect(kept.get(part)).toBe(printJson(long))
      expect([kept.has(short), kept.has(body as object)]).toEqual([false, false])
    }
  })

  test('lets others in while it looks at many that are short', async () => {
    let turns = 0
    const items = Array.from({ length: jsonTurnChars }, () => short)
    await printPartsInTurns(items, () => {
      turns += 1
      return Promise.resolve()
    })
    expect(turns).toBeGreaterThan(4)
    await printPartsInTurns('scalar', goOn)
  })
})

describe('between two turns', () => {
  // proves E1.7
  test.each(nameKinds)(
    'no more members are printed than a turn has characters for: %s',
    async kind => {
      const entries = namesOf(kind, jsonMembersMax).map((name): [string, Json] => [name, 1])
      const members = new TextMap<Json>(entries)
      let taken = 0
      let most = 0
      const counted = new Proxy(members, {
        get(target, member) {
          const held: unknown = Reflect.get(target, member, target)
          if (member !== 'inOrder' && member !== Symbol.iterator) return held
          return function* () {
            for (const entry of (held as () => Iterable<readonly [string, Json]>).call(target)) {
              taken += 1
              yield entry
            }
          }
        },
      })
      await printInTurns(counted, () => {
        most = Math.max(most, taken)
        taken = 0
        return Promise.resolve()
      })
      const shortest = Math.min(...entries.map(([name]) => `"${name}":1,`.length))
      expect(most).toBeGreaterThan(0)
      expect(most).toBeLessThanOrEqual(Math.ceil(jsonTurnChars / shortest) + 1)
    },
  )
})
