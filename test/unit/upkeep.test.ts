/**
 * When what a file has left of keys of codes is looked for, and for how long.
 * @module
 */
import { expect, test } from 'bun:test'
import { codeKeysScrubMs, codeKeysScrubRest } from '../../src/limits/work-limits.ts'
import type { Row } from '../../src/store/contract.ts'
import { makeCodeKeyScrubber } from '../../src/vault/upkeep.ts'

const rowOf = (byte: number, bytes = 48): Row => ({
  ordinal: byte,
  version: 1,
  uniques: [],
  terms: [],
  clear: new Uint8Array(),
  parts: [new Uint8Array(63), new Uint8Array(bytes).fill(byte)],
})

// proves S69
test('keys of codes are looked for until none is left, rarely where it takes long', async () => {
  let nowMs = 0
  let tookMs = 0
  const looks: number[][] = []
  const finds: (number | undefined | Error)[] = []
  const scrubber = makeCodeKeyScrubber({ elapsedMs: () => nowMs }, async sealed => {
    looks.push(sealed.map(([byte = 0]) => byte))
    nowMs += tookMs
    if (looks.length === 1) scrubber.hear(rowOf(2))
    const found = finds.shift()
    if (found instanceof Error) throw found
    return found
  })
  const runAfter = async (ms: number): Promise<number> => {
    nowMs += ms
    await scrubber.run().catch(() => {})
    return looks.length
  }
  expect(await runAfter(codeKeysScrubMs)).toBe(0)
  scrubber.hear(rowOf(9, 49))
  expect(await runAfter(codeKeysScrubMs)).toBe(0)
  scrubber.hear(rowOf(1))
  finds.push(1, new Error('a disk that fails'), 0, 0)
  expect(await runAfter(0)).toBe(1)
  expect(await runAfter(codeKeysScrubMs - 1)).toBe(1)
  expect(await runAfter(1)).toBe(2)
  tookMs = codeKeysScrubMs
  expect(await runAfter(codeKeysScrubMs)).toBe(3)
  scrubber.hear(rowOf(3))
  expect(await runAfter(codeKeysScrubRest * codeKeysScrubMs - 1)).toBe(3)
  expect(await runAfter(1)).toBe(4)
  expect(looks).toEqual([[1], [1, 2], [1, 2], [3]])
  expect(await runAfter(codeKeysScrubRest * codeKeysScrubMs)).toBe(4)
})
