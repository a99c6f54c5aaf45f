/**
 * Runs before the tests: replaces texts of the heart, and defines the functions that these call.
 * The file that COFFER_HEART names has the order.
 * @module
 */
import { afterAll } from 'bun:test'
import { writeFileSync } from 'node:fs'
import type { Order } from './test-run.ts'

const path = process.env['COFFER_HEART'] ?? ''
const { texts, outcomesOut, endlessExitCode, evaluationsMax } = (await Bun.file(
  path,
).json()) as Order

/** Counts of outcomes 0 and 1, by guard. */
const seen: [number, number][] = []

const see = (id: number, outcome: 0 | 1): void => {
  const counts = (seen[id] ??= [0, 0])
  counts[outcome] += 1
}

let evaluations = 0

Object.assign(globalThis, {
  __truth<T>(id: number, value: T): T {
    see(id, value ? 1 : 0)
    return value
  },
  __missing<T>(id: number, value: T): T {
    see(id, value === undefined || value === null ? 1 : 0)
    return value
  },
  __reach(id: number): void {
    see(id, 0)
  },
  /** Exits from a mutant's endless loop; code around it might catch an error. */
  __count<T>(value: T): T {
    evaluations += 1
    if (evaluations > evaluationsMax) process.exit(endlessExitCode)
    return value
  },
})

Bun.plugin({
  name: 'heart',
  setup(build) {
    const names = Object.keys(texts).map(name => RegExp.escape(name))
    build.onLoad({ filter: new RegExp(`^(?:${names.join('|')})$`) }, ({ path: name }) => ({
      contents: texts[name] ?? '',
      loader: 'ts',
    }))
  },
})

if (outcomesOut !== undefined) {
  afterAll(() => writeFileSync(outcomesOut, JSON.stringify(seen)))
}
