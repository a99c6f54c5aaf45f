/**
 * Merge patches on values: the result equals that of the RFC, and the target is unchanged.
 *
 * @module
 */
import { parseJson } from '../../../src/lib/json/parse-json.ts'
import { printCanonicalJson, printJson } from '../../../src/lib/json/json.ts'
import { mergePatch } from '../../../src/lib/json/merge-patch.ts'
import { patchAsTheRfcSays } from '../../../test/support/merge-patch-twin.ts'
import type { Target } from '../engine.ts'
import { assert, canary, resultOf, separator, splitInput } from '../invariants.ts'

function run(input: string): void {
  const [targetText, patchText] = splitInput(input, '{}')
  const target = resultOf(() => parseJson(targetText))
  const patch = resultOf(() => parseJson(patchText))
  if (target === undefined || patch === undefined) return
  const [targetBefore, patchBefore] = [printJson(target), printJson(patch)]
  const merged = resultOf(() => mergePatch(target, patch))
  assert(merged !== undefined, 'a patch is never refused')
  const text = printJson(merged)
  const expected = printCanonicalJson(patchAsTheRfcSays(target, patch))
  assert(printCanonicalJson(merged) === expected, 'the result is that of the RFC')
  assert(printJson(mergePatch(merged, patch)) === text, 'patching twice is patching once')
  assert(printJson(target) === targetBefore, 'the target stays as it was')
  assert(printJson(patch) === patchBefore, 'the patch stays as it was')
  assert(text.length <= targetBefore.length + patchBefore.length, 'the result is no larger')
}

const pair = (target: string, patch: string): string => target + separator + patch

export const target: Target = {
  seeds: [
    pair('{"a":"b"}', '{"a":"c"}'),
    pair('{"a":"b"}', '{"b":"c"}'),
    pair('{"a":"b"}', '{"a":null}'),
    pair('{"a":"b","b":"c"}', '{"a":null}'),
    pair('{"a":["b"]}', '{"a":"c"}'),
    pair('{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}'),
    pair('{"a":[{"b":"c"}]}', '{"a":[1]}'),
    pair('["a","b"]', '["c","d"]'),
    pair('{"e":null}', '{"a":1}'),
    pair('[1,2]', '{"a":"b","c":null}'),
    pair('{}', '{"a":{"bb":{"ccc":null}}}'),
    pair(
      `{"__proto__":{"${canary}":1}}`,
      '{"__proto__":{"x":null},"constructor":{"prototype":{}}}',
    ),
  ],
  dictionary: [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"b"',
    '"__proto__"',
    '"constructor"',
    '"prototype"',
    'null',
    'true',
    '1',
    '1.0',
    `"${canary}"`,
    separator,
    '{"a":',
    '{"a":null}',
    '{"__proto__":',
    '"toString"',
    '"0"',
    '"1"',
    '""',
    '"\\u0061"',
    '12345678901234567890',
  ],
  charsMax: 2_000,
  run,
}
