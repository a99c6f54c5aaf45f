import { describe, expect, test } from 'bun:test'
import { isLive } from '../../../src/domain/caller.ts'

describe('a credential', () => {
  test('without an end is live at any instant', () => {
    expect(isLive({ expiresAtMs: undefined }, 0)).toBe(true)
    expect(isLive({ expiresAtMs: undefined }, Number.MAX_SAFE_INTEGER)).toBe(true)
  })

  test.each([
    [999, true],
    [1_000, false],
    [1_001, false],
  ])('that ends at 1000 is live at %d: %p', (nowMs, expected) => {
    expect(isLive({ expiresAtMs: 1_000 }, nowMs)).toBe(expected)
  })
})
