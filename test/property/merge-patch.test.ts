import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { printCanonicalJson, printJson } from '../../src/domain/json-print.ts'
import { isJsonArray, isJsonObject, type Json } from '../../src/domain/json.ts'
import { mergePatch } from '../../src/domain/merge-patch.ts'
import { json, jsonObject } from '../support/arbitrary-json.ts'

/** The pseudocode of RFC 7386 section 2, over lists of members. */
const twin = (target: Json | undefined, patch: Json): Json => {
  if (!isJsonObject(patch)) return patch
  let members = isJsonObject(target) ? [...target] : []
  for (const [name, value] of patch) {
    const standing = members.find(([other]) => other === name)?.[1]
    members = members.filter(([other]) => other !== name)
    if (value !== null) members.push([name, twin(standing, value)])
  }
  return new Map(members)
}

const depthOf = (value: Json): number => {
  const inner = isJsonArray(value) ? value : isJsonObject(value) ? [...value.values()] : undefined
  return inner === undefined ? 0 : 1 + Math.max(0, ...inner.map(depthOf))
}

const hasNullMember = (value: Json): boolean =>
  isJsonObject(value) && [...value.values()].some(item => item === null || hasNullMember(item))

describe('merge patch laws', () => {
  test('the result is that of the RFC text', () => {
    fc.assert(
      fc.property(json, json, (target, patch) => {
        expect(printCanonicalJson(mergePatch(target, patch))).toBe(
          printCanonicalJson(twin(target, patch)),
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
