/**
 * Bodies of hostile names cost what ordinary ones of the same size cost, counted in comparisons of
 * names: time would depend on the machine.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { parseJson, parseJsonInTurns } from '../../../src/lib/json/parse-json.ts'
import {
  printCanonicalJson,
  printJson,
  isJsonArray,
  isJsonObject,
  type Json,
} from '../../../src/lib/json/json.ts'
import { mergePatch } from '../../../src/lib/json/merge-patch.ts'
import { TextMap } from '../../../src/lib/maps.ts'
import { bodyBytesMax, jsonMembersMax } from '../../../src/limits/limits.ts'
import { hashedMembersMax, jsonTurnChars } from '../../../src/limits/work-limits.ts'
import { nameKinds, namesOf, printObjects, type NameKind } from '../../support/hostile-names.ts'
import { expectRefusal } from '../../support/refusal.ts'

/** Returns all objects; none with many members may be a table of the engine. */
function objectsOf(value: Json): readonly Json[] {
  if (!isJsonArray(value)) return []
  return value.filter(item => {
    if (!isJsonObject(item)) return false
    expect(item instanceof TextMap).toBe(item.size > hashedMembersMax)
    return true
  })
}

/** Counts comparisons of names, if each look-up in a table of the engine may meet all of them. */
function countSteps(kind: NameKind, membersEach: number): number {
  const text = printObjects(kind, membersEach, bodyBytesMax)
  let steps = 0
  const value = parseJson(text, 'body', (a, b) => {
    steps += 1
    return a < b
  })
  for (const item of objectsOf(value)) {
    if (isJsonObject(item)) steps += Math.min(item.size, hashedMembersMax) ** 2 / 2
  }
  return steps / Buffer.byteLength(text)
}

describe('a body of 1 MiB with names of every kind', () => {
  // proves E1.1, S61
  test.each(nameKinds)('takes at most three times the comparisons of ordinary ones: %s', kind => {
    for (const membersEach of [hashedMembersMax, 1_000, jsonMembersMax]) {
      const ordinary = countSteps('ordinary', membersEach)
      expect(countSteps(kind, membersEach)).toBeLessThan(3 * ordinary)
    }
  })

  test.each(nameKinds)('is the same value after printing, in any form: %s', async kind => {
    const text = printObjects(kind, jsonMembersMax, 300_000)
    const value = parseJson(text)
    expect(printJson(value)).toBe(text)
    expect(printJson(await parseJsonInTurns(text, () => Promise.resolve()))).toBe(text)
    expect(printCanonicalJson(parseJson(printCanonicalJson(value)))).toBe(printCanonicalJson(value))
  })
})

describe('an object of many members', () => {
  const printMembers = (names: readonly string[]): string =>
    `{${names.map(name => `${JSON.stringify(name)}:1`).join(',')}}`

  test.each([hashedMembersMax, hashedMembersMax + 1, 1_000])(
    'of %d refuses a second one',
    count => {
      const names = namesOf('ordinary', count)
      const before = printMembers(names).length
      for (const again of [names[0] ?? '', names.at(-1) ?? '']) {
        const error = expectRefusal(() => parseJson(printMembers([...names, again])), ['body'])
        expect(error.message).toContain(`at character ${before} of the JSON text`)
        expect(error.message).not.toContain(again)
      }
    },
  )

  test('takes `__proto__` for an ordinary name', () => {
    const names = ['__proto__', ...namesOf('ordinary', 100), 'constructor']
    const value = parseJson(printMembers(names))
    expect(isJsonObject(value) && [...value.keys()]).toEqual(names)
    expect(isJsonObject(value) && value.get('__proto__')).toBe(1)
    expect(isJsonObject(value) && value.get('toString')).toBeUndefined()
  })

  // proves E1.5
  test('has at most 10,000', () => {
    const names = namesOf('ordinary', jsonMembersMax)
    const value = parseJson(printMembers(names))
    expect(isJsonObject(value) && value.size).toBe(jsonMembersMax)
    const error = expectRefusal(() => parseJson(printMembers([...names, 'more'])), ['body'])
    expect(error.message).toContain(`expected an object of at most ${jsonMembersMax} members`)
  })

  test('is patched as a small one is', () => {
    const names = namesOf('colliding', 2_000)
    const target = new TextMap<Json>(names.map(name => [name, 1]))
    const changes = names.map((name, index): [string, Json] => [name, index % 2 === 0 ? null : 2])
    const patched = mergePatch(target, new TextMap<Json>([...changes, ['new', 3], ['none', null]]))
    const expected = names
      .filter((_, index) => index % 2 === 1)
      .map((name): [string, Json] => [name, 2])
    expect(isJsonObject(patched) && [...patched]).toEqual([...expected, ['new', 3]])
  })
})

describe('a text that is parsed in turns', () => {
  // proves E1.7
  test('lets others in after every piece of it', async () => {
    const text = printObjects('ordinary', 100, 20 * jsonTurnChars)
    let turns = 0
    await parseJsonInTurns(text, () => {
      turns += 1
      return Promise.resolve()
    })
    expect(turns).toBeGreaterThan(15)
    expect(turns).toBeLessThan(25)
  })

  test.each(['[1,2', '[1] 2', '{"a":1,"a":2}', '', '[\ud800]', '{"a" 1}', '[1}', '{"a":1]'])(
    'is refused as in one go: %j',
    async text => {
      const error = expectRefusal(() => parseJson(text), ['body'])
      const refused = await parseJsonInTurns(text, () => Promise.resolve()).catch(
        (thrown: unknown) => thrown,
      )
      expect(refused).toEqual(error)
    },
  )
})
