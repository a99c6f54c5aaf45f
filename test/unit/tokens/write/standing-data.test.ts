/**
 * Data that is changed is parsed, merged and printed in turns where it is long.
 * @module
 */
import { expect, test } from 'bun:test'
import { parseJson } from '../../../../src/lib/json/parse-json.ts'
import { printCanonicalJson, printJson } from '../../../../src/lib/json/json.ts'
import { jsonTurnChars } from '../../../../src/limits/work-limits.ts'
import { mergeData, parseStanding } from '../../../../src/tokens/write/patch.ts'

/** Changes data. @returns the new data, and how often others were let in */
async function change(dataText: string, patch: string | undefined) {
  let turns = 0
  const pause = async () => {
    turns += 1
  }
  const standing = await parseStanding({ unsealData: () => dataText }, pause)
  const parsed = turns
  const given = patch === undefined ? undefined : parseJson(patch)
  const merged = await mergeData(standing, given, pause)
  return { merged, parsed, printed: turns - parsed }
}

const list = `[${Array.from({ length: 20_000 }, () => '[]').join(',')}]`
const long = `{"b":${list},"a":1}`
const turnsOf = Math.floor(long.length / jsonTurnChars)

// proves E10.14
test.each([
  ['left as it is', undefined, long, `{"a":1,"b":${list}}`],
  ['merged', '{"a":2}', `{"b":${list},"a":2}`, `{"a":2,"b":${list}}`],
])('long data that is %s lets others in after every piece', async (_, patch, text, canonical) => {
  const { merged, parsed, printed } = await change(long, patch)
  expect(parsed).toBeGreaterThanOrEqual(turnsOf)
  expect(printed).toBeGreaterThanOrEqual(2 * turnsOf)
  expect([printJson(merged), printCanonicalJson(merged)]).toEqual([text, canonical])
})

// proves E10.14
test('short data that a long patch makes long does too', async () => {
  const { merged, parsed, printed } = await change('{"a":1}', `{"b":${list}}`)
  expect(parsed).toBe(0)
  expect(printed).toBeGreaterThanOrEqual(2 * turnsOf)
  expect(printJson(merged)).toBe(`{"a":1,"b":${list}}`)
})

test('short data waits for nobody', async () => {
  const { merged, parsed, printed } = await change('{"a":1}', '{"b":2}')
  expect([printJson(merged), parsed, printed]).toEqual(['{"a":1,"b":2}', 0, 0])
})
