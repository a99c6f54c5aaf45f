/**
 * The lock of an instance while others let go of it. Source: src/server/folder/instance-lock.ts.
 * @module
 */
import { lockPollMs, lockWaitMsMax } from '../../../src/limits/operation-limits.ts'
import { expect, test } from 'bun:test'
import { closeSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lockInstance, type LockTime } from '../../../src/server/folder/instance-lock.ts'
import { temporaryFolder } from '../../support/folders.ts'

/** @param atSleep called when it sleeps for the nth time */
function countedTime(atSleep: (count: number) => void = () => {}) {
  const time = { nowMs: 5_000, sleeps: 0 }
  const lockTime: LockTime = {
    elapsedMs: () => time.nowMs,
    sleep(ms) {
      time.nowMs += ms
      time.sleeps += 1
      atSleep(time.sleeps)
    },
  }
  return { time, lockTime }
}

function lockFile(): string {
  const path = join(temporaryFolder(), 'lock')
  writeFileSync(path, '')
  return path
}

test('a lock that nobody has is taken without waiting', () => {
  const { time, lockTime } = countedTime()
  lockInstance(lockFile(), lockTime)
  expect(time.sleeps).toBe(0)
})

// proves E16
test('a lock is waited for while its last holder ends, and taken then', () => {
  const path = lockFile()
  const held = lockInstance(path, countedTime().lockTime)
  const { time, lockTime } = countedTime(count => {
    if (count === 7) closeSync(held)
  })
  expect(lockInstance(path, lockTime)).toBeGreaterThan(0)
  expect(time.sleeps).toBe(7)
})

// proves E16
test('a lock that stays with another one is refused after a second', () => {
  const path = lockFile()
  lockInstance(path, countedTime().lockTime)
  const { time, lockTime } = countedTime()
  expect(() => lockInstance(path, lockTime)).toThrow('another coffer runs on this data folder')
  expect(time.sleeps).toBe(lockWaitMsMax / lockPollMs)
})
