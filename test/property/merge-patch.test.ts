import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  printCanonicalJson,
  printJson,
  isJsonArray,
  isJsonObject,
  type Json,
} from '../../src/lib/json/json.ts'
import { mergePatch } from '../../src/lib/json/merge-patch.ts'
import { json, jsonObject } from '../support/arbitrary-json.ts'
import { patchAsTheRfcSays } from '../support/merge-patch-twin.ts'
import { pollutedPrototypes } from '../support/prototypes.ts'

afterEach(() => expect(pollutedPrototypes()).toEqual([]))

const depthOf = (value: Json): number => {
  const inner = isJsonArray(value) ? value : isJsonObject(value) ? [...value.values()] : undefined
  return inner === undefined ? 0 : 1 + Math.max(0, ...inner.map(depthOf))
}

const hasNullMember = (value: Json): boolean =>
  isJsonObject(value) && [...value.values()].some(item => item === null || hasNullMember(item))

describe('merge patch laws', () => {
  // proves H55
  test('the result is that of the RFC text', () => {
    fc.assert(
      fc.property(json, json, (target, patch) => {
        expect(printCanonicalJson(mergePatch(target, patch))).toBe(
          printCanonicalJson(patchAsTheRfcSays(target, patch)),
        )
      }),
    )
  })

  test('the result is no deeper than the deeper of the two', () => {
    fc.assert(
      fc.property(jsonObject, jsonObject, (target, patch) => {
        const deepest = Math.max(depthOf(target), depthOf(patch))
        expect(depthOf(mergePatch(target, patch))).toBeLessThanOrEqual(deepest)
      }),
    )
  })

  test('neither the target nor the patch is changed, and the result is no larger than both', () => {
    fc.assert(
      fc.property(json, json, (target, patch) => {
        const before = [printJson(target), printJson(patch)]
        const merged = printJson(mergePatch(target, patch))
        expect([printJson(target), printJson(patch)]).toEqual(before)
        expect(merged.length).toBeLessThanOrEqual(before.join('').length)
      }),
    )
  })

  // proves H52
  test('members with names of prototypes are members like any other', () => {
    const name = fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'a')
    const value = fc.oneof(fc.constantFrom(null, 1, 'x'), fc.constant(new Map([['polluted', 1]])))
    const object = fc
      .uniqueArray(fc.tuple(name, value), { selector: ([key]) => key })
      .map(entries => new Map<string, Json>(entries))
    fc.assert(
      fc.property(object, object, (target, patch) => {
        const merged = mergePatch(target, patch)
        if (!isJsonObject(merged)) throw new Error('expected an object')
        for (const [key, given] of patch) {
          expect(merged.has(key)).toBe(given !== null)
          if (given !== null) expect(printJson(merged.get(key) ?? null)).toBe(printJson(given))
        }
        expect('polluted' in {}).toBe(false)
      }),
    )
  })

  test('patching twice is patching once', () => {
    fc.assert(
      fc.property(json, json, (target, patch) => {
        const once = mergePatch(target, patch)
        expect(printJson(mergePatch(once, patch))).toBe(printJson(once))
      }),
    )
  })

  test('an empty patch changes nothing, and a value without nulls is a patch to itself', () => {
    fc.assert(
      fc.property(jsonObject, value => {
        expect(printJson(mergePatch(value, new Map()))).toBe(printJson(value))
        if (!hasNullMember(value)) {
          expect(printJson(mergePatch(undefined, value))).toBe(printJson(value))
        }
      }),
    )
  })

  test('the names of the target keep their order', () => {
    fc.assert(
      fc.property(jsonObject, jsonObject, (target, patch) => {
        const result = mergePatch(target, patch)
        if (!isJsonObject(target) || !isJsonObject(result)) throw new Error('expected objects')
        const kept = [...target.keys()].filter(name => result.has(name))
        expect([...result.keys()].slice(0, kept.length)).toEqual(kept)
      }),
    )
  })
})
