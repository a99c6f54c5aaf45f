/**
 * The end of a sitting that nobody attends.
 * @module
 */
import { expect, test } from 'bun:test'
import { watchIdle } from '../../../../src/console/app/idle.ts'

function watched() {
  const state = { nowMs: 1_000, ends: 0 }
  const idle = watchIdle({
    nowMs: () => state.nowMs,
    idleMsMax: 600,
    onIdle: () => {
      state.ends += 1
    },
  })
  return { ...idle, state }
}

test('nothing ends before its time', () => {
  const { look, state } = watched()
  state.nowMs += 599
  look()
  expect(state.ends).toBe(0)
})

test('a look ends it once', () => {
  const { look, state } = watched()
  state.nowMs += 600
  look()
  look()
  expect(state.ends).toBe(1)
})

test('a sign of life puts it off', () => {
  const { look, touch, state } = watched()
  state.nowMs += 599
  touch()
  state.nowMs += 599
  look()
  expect(state.ends).toBe(0)
})

test('a sign of life that comes too late ends it', () => {
  const { touch, state } = watched()
  state.nowMs += 600
  touch()
  expect(state.ends).toBe(1)
})
