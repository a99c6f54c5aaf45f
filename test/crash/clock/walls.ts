/**
 * The wrong clocks of the clock part. Source: hardening D6.
 * @module
 */

/** Time zone of the processes, which has days of 23 and of 25 hours. */
export const zone = 'Europe/Berlin'

const hourMs = 60 * 60 * 1_000
const yearMs = 365.25 * 24 * hourMs

export interface Wall {
  readonly name: string
  /** Lead of this wall clock over the right one, in milliseconds, at that right instant. */
  aheadMs(rightMs: number): number
}

const shifted = (name: string, aheadMs: number): Wall => ({ name, aheadMs: () => aheadMs })

/** Reaches the instant within two seconds. Whole seconds keep the fake clock's offset exact. */
const shortlyBefore = (name: string, atMs: number): Wall => ({
  name,
  aheadMs: rightMs => Math.floor((atMs - 1_000 - rightMs) / 1_000) * 1_000,
})

export const walls: readonly Wall[] = [
  shifted('an hour ahead', hourMs),
  shifted('an hour behind', -hourMs),
  shifted('two minutes ahead', 2 * 60_000),
  shifted('two minutes behind', -2 * 60_000),
  shifted('ten years ahead', 10 * yearMs),
  shifted('ten years behind', -10 * yearMs),
  shortlyBefore('1970', 4_000),
  shortlyBefore('the end of 32 bits', 2 ** 31 * 1_000),
  shortlyBefore('the start of summer time', Date.UTC(2040, 2, 25, 1)),
  shortlyBefore('the end of summer time', Date.UTC(2040, 9, 28, 1)),
  shortlyBefore('a past end of summer time', Date.UTC(2020, 9, 25, 1)),
]
