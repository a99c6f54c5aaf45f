/**
 * A machine whose wall clock is wrong when a test says so, and the clock of a vault on it.
 * @module
 */
import { makeClock, type Clock } from '../../src/server/process/clock.ts'
import { clockStartHoldMs } from '../../src/limits/operation-limits.ts'

export interface FakeMachine {
  /** Contents of the mark's file. */
  text: string
  /** Number of writes. */
  writes: number
  /** If set, the mark can be neither read nor written. */
  isBroken: boolean
  readonly logged: [event: string, facts?: unknown][]
  /** Time that the wall shows. */
  readonly wall: () => number
  /** Time that it would show had it never been moved. */
  readonly right: () => number
  readonly elapsedMs: () => number
  /** Lets time go by. */
  pass(ms: number): void
  /** Moves the wall: forward, or back with a negative number. */
  step(ms: number): void
  /** Sets the wall right. */
  correct(): void
  /** Stops the wall until it is set right. */
  freeze(): void
  /** Starts a process: its clock. @param startHoldMs as of one that begins a vault */
  start(startHoldMs?: number): Clock
}

export const fakeStartMs = Date.UTC(2030, 0, 1)

export function fakeMachine(): FakeMachine {
  // Neither 0 nor a whole number of milliseconds, like the clock of a real process.
  let elapsedMs = 123.25
  let wallAheadMs = 0
  let frozenMs: number | undefined
  const right = () => fakeStartMs + Math.trunc(elapsedMs)
  const wall = () => frozenMs ?? right() + wallAheadMs
  const failWhenBroken = () => {
    if (machine.isBroken) throw new Error('no such disk')
  }
  const mark = {
    read() {
      failWhenBroken()
      return machine.text
    },
    write(text: string) {
      failWhenBroken()
      machine.text = text
      machine.writes += 1
    },
  }
  const machine: FakeMachine = {
    text: '',
    writes: 0,
    isBroken: false,
    logged: [],
    wall,
    right,
    elapsedMs: () => elapsedMs,
    pass: ms => {
      elapsedMs += ms
    },
    step: ms => {
      if (frozenMs === undefined) wallAheadMs += ms
      else frozenMs += ms
    },
    correct() {
      wallAheadMs = 0
      frozenMs = undefined
    },
    freeze() {
      frozenMs = wall()
    },
    start: (startHoldMs = clockStartHoldMs) =>
      makeClock({
        wall,
        elapsedMs: () => elapsedMs,
        mark,
        startHoldMs,
        log: (event, facts) => {
          machine.logged.push(facts === undefined ? [event] : [event, facts])
        },
      }),
  }
  return machine
}

/** Returns both readings, less the right time. */
export const aheadOf = (machine: FakeMachine, clock: Clock) => ({
  now: clock.now() - machine.right(),
  settled: clock.settled() - machine.right(),
})

/** Returns a machine with the right time, and the clock of a vault on it. */
export function startRight() {
  const machine = fakeMachine()
  const clock = machine.start()
  return { machine, clock, ahead: () => aheadOf(machine, clock) }
}

/** Reads the clock once a second, as the sweep does. */
export function passLooking(machine: FakeMachine, clock: { settled(): number }, ms: number): void {
  for (let leftMs = ms; leftMs > 0; leftMs -= 1_000) {
    machine.pass(Math.min(leftMs, 1_000))
    clock.settled()
  }
}
