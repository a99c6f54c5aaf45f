/**
 * Clock jumps: a vault whose wall clock is moved while it serves and while it restarts, by an hour,
 * by ten years, to 1970, over the edges of summer time and of 32 bits.
 *
 * Nothing is served at or after its expiry by any clock that was shown; nothing unexpired is lost
 * once the clock is right; expired tokens are off the disk within 60 seconds of that.
 * Source: hardening T6, D6, F17; contract section 10.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clockStartHoldMs } from '../../../src/limits/operation-limits.ts'
import { fakeTimeLibrary, fakeTimeMissing } from '../../support/fake-time.ts'
import {
  addToken,
  checkTokens,
  endVault,
  openClockVault,
  restartVault,
  showWall,
  startVault,
  type ClockVault,
} from '../clock/vault.ts'
import { walls, type Wall } from '../clock/walls.ts'
import { drawFrom, pick, takeAny, type Draw } from '../draw.ts'
import type { Part, PartResult } from '../part.ts'

/** Number of times that each wall clock is shown; a short run shows some of them, once. */
const fullRounds = 5
const shortWalls = 6

const briefMs = 2_500
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const yearMs = 365.25 * dayMs
const lifetimes = [briefMs, 30 * minuteMs, 90 * minuteMs, 5 * yearMs, 20 * yearMs, undefined]

const removalMsMax = 60_000
const endings = ['SIGTERM', 'SIGKILL'] as const

/** @returns how long rows that had expired by that instant stayed on the disk */
async function waitUntilSwept(vault: ClockVault, rightMs: number): Promise<number> {
  const started = performance.now()
  const takenMs = () => performance.now() - started
  while ((await vault.store.due(rightMs, 1)).length > 0) {
    if (takenMs() > removalMsMax) {
      vault.failures.push('an expired token is on the disk after 60 seconds')
      break
    }
    await Bun.sleep(20)
  }
  return takenMs()
}

/** Throws if too slow: after a while a server rightly believes a wrong clock it started with. */
function assertBrief(startedMs: number): void {
  if (performance.now() - startedMs < clockStartHoldMs - 2_000) return
  throw new Error('this machine is too slow to tell a jump from downtime')
}

async function addTokens(vault: ClockVault): Promise<void> {
  for (const lifetimeMs of lifetimes) await addToken(vault, lifetimeMs)
}

/** Shows wrong wall clocks between right ones. @returns how long expired rows stayed on the disk */
async function showWrongWalls(vault: ClockVault, draw: Draw, wrong: Wall[]): Promise<number> {
  await addTokens(vault)
  const briefEndMs = Date.now() + briefMs
  for (const { name, aheadMs } of wrong) {
    showWall(vault, aheadMs(Date.now()))
    await checkTokens(vault, name)
  }
  const names = wrong.map(({ name }) => name).join(', then ')
  await addTokens(vault)
  const restart = pick(draw, [undefined, ...endings])
  const startedMs = performance.now()
  if (restart !== undefined) {
    await restartVault(vault, restart)
    await checkTokens(vault, `${names}, ${restart}`)
  }
  await Bun.sleep(Math.max(0, briefEndMs - Date.now()))
  await checkTokens(vault, `${names}, later`)
  if (restart !== undefined) assertBrief(startedMs)
  showWall(vault, 0)
  const rightMs = Date.now()
  await checkTokens(vault, `${names}, set right`)
  const removalMs = await waitUntilSwept(vault, rightMs)
  const last = pick(draw, endings) ?? 'SIGKILL'
  await restartVault(vault, last)
  await checkTokens(vault, `${names}, set right, ${last}`)
  return removalMs
}

/**
 * Tokens that expired while no process ran leave the disk, though the clock cannot know at first
 * if that was downtime or a jump. @returns the time it took
 */
async function sweepAfterDowntime(vault: ClockVault): Promise<number> {
  await addToken(vault, briefMs)
  await endVault(vault, 'SIGTERM')
  await Bun.sleep(briefMs)
  writeFileSync(join(vault.data, 'clock'), `${Date.now() - dayMs}\n`)
  await startVault(vault)
  await checkTokens(vault, 'after a day')
  const removalMs = await waitUntilSwept(vault, Date.now())
  await checkTokens(vault, 'after a day, swept')
  return removalMs
}

/** The wall clocks in any order, sometimes directly followed by another. */
function* drawWalls(draw: Draw, isShort: boolean): Generator<Wall[]> {
  for (let round = 0; round < (isShort ? 1 : fullRounds); round += 1) {
    const left = [...walls]
    const last = isShort ? left.length - shortWalls : 0
    while (left.length > last) {
      const shown = [takeAny(draw, left), draw(2) === 0 ? pick(draw, walls) : undefined]
      yield shown.filter(wall => wall !== undefined)
    }
  }
}

async function resultOf(vault: ClockVault, rest: Record<string, number>): Promise<PartResult> {
  await endVault(vault, 'SIGTERM')
  const { store, counts, tokens, events, failures } = vault
  const findings = await store.integrity()
  await store.close()
  failures.push(...findings.map(finding => `the store: ${JSON.stringify(finding)}`))
  const figures = {
    ...rest,
    starts: counts.starts,
    'tokens acknowledged': tokens.length,
    reads: counts.reads,
    'reads of what a jump hid': counts.hidden,
    'jumps noticed': events.get('clock_jumped') ?? 0,
    'clocks behind noticed': events.get('clock_behind') ?? 0,
  }
  return { figures, failures }
}

/** The part `clock`. */
export const jumpClocks: Part = async ({ seed, size, folder, say }) => {
  if (fakeTimeLibrary === undefined) return { figures: {}, failures: [], skipped: fakeTimeMissing }
  const draw = drawFrom(seed)
  const vault = await openClockVault(folder)
  let [shown, slowestMs] = [0, 0]
  try {
    for (const wrong of drawWalls(draw, size === 'short')) {
      slowestMs = Math.max(slowestMs, await showWrongWalls(vault, draw, wrong))
      shown += wrong.length
      say(`${wrong.map(({ name }) => name).join(', then ')}: ${vault.failures.length} failures`)
    }
  } catch (error) {
    await vault.server.end('SIGKILL')
    await vault.store.close()
    throw error
  }
  const secondsOf = (ms: number) => Math.ceil(ms / 1_000)
  const figures = { 'wrong clocks': shown, 'seconds to removal, at most': secondsOf(slowestMs) }
  if (size === 'short') return resultOf(vault, figures)
  const seconds = secondsOf(await sweepAfterDowntime(vault))
  return resultOf(vault, { ...figures, 'seconds to removal after downtime': seconds })
}
