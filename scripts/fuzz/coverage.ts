/**
 * Coverage that guides the fuzzer: the outcomes of guards that an execution reached, and roughly
 * how often. The guards are those of the heart's coverage, with a counting probe at each.
 *
 * Load files that are to be watched after `watch`.
 * @module
 */
import { join, resolve } from 'node:path'
import type { Guard } from '../heart/guard.ts'
import { findGuards } from '../heart/guards.ts'
import { probedTexts } from '../heart/probes.ts'

const root = resolve(import.meta.dir, '../..')

export interface Coverage {
  /** Ends one execution. @returns true if it reached something new */
  readonly settle: () => boolean
  /** Outcomes reached so far, and all that exist. */
  readonly reached: () => { readonly outcomes: number; readonly of: number }
}

/** Returns a bit for 1, 2, 3, 4 to 7, 8 to 15, 16 to 31, 32 to 127, or more. */
function bucketOf(count: number): number {
  if (count < 4) return 1 << (count - 1)
  if (count < 8) return 8
  if (count < 16) return 16
  if (count < 32) return 32
  return count < 128 ? 64 : 128
}

interface Counts {
  readonly see: (index: number) => void
  readonly settle: Coverage['settle']
  readonly countSeen: () => number
}

/** Counters of one execution and outcomes of all; it visits only touched counters. */
export function makeCounts(size: number): Counts {
  const counts = new Uint32Array(size)
  const touched = new Uint32Array(size)
  const seen = new Uint8Array(size)
  let touchedCount = 0
  return {
    see(index) {
      if (counts[index] === 0) touched[touchedCount++] = index
      counts[index] = (counts[index] ?? 0) + 1
    },
    settle() {
      let isNew = false
      for (let at = 0; at < touchedCount; at += 1) {
        const index = touched[at] ?? 0
        const bit = bucketOf(counts[index] ?? 1)
        counts[index] = 0
        const before = seen[index] ?? 0
        if ((before & bit) !== 0) continue
        seen[index] = before | bit
        isNew = true
      }
      touchedCount = 0
      return isNew
    },
    countSeen: () => seen.reduce((sum, buckets) => sum + (buckets === 0 ? 0 : 1), 0),
  }
}

/** Defines the functions that the probes call. */
function openProbes(see: Counts['see']): void {
  Object.assign(globalThis, {
    __truth<T>(id: number, value: T): T {
      see(2 * id + (value ? 1 : 0))
      return value
    },
    __missing<T>(id: number, value: T): T {
      see(2 * id + (value === undefined || value === null ? 1 : 0))
      return value
    },
    __reach(id: number): void {
      see(2 * id)
    },
  })
}

function replaceTexts(texts: ReadonlyMap<string, string>): void {
  const byPath = new Map([...texts].map(([file, text]) => [join(root, file), text]))
  const names = [...byPath.keys()].map(name => RegExp.escape(name))
  Bun.plugin({
    name: 'fuzz',
    setup(build) {
      build.onLoad({ filter: new RegExp(`^(?:${names.join('|')})$`) }, ({ path }) => ({
        contents: byPath.get(path) ?? '',
        loader: 'ts',
      }))
    },
  })
}

const countOutcomes = (guards: readonly Guard[]): number =>
  guards.reduce((sum, { outcomes }) => sum + outcomes.length, 0)

/** @param patterns of files, from the root, that are loaded from now on */
export function watch(patterns: readonly string[]): Coverage {
  const files = patterns.flatMap(pattern => [...new Bun.Glob(pattern).scanSync(root)]).toSorted()
  const guards = findGuards([...new Set(files)])
  const all = [...guards.values()].flat()
  const counts = makeCounts(2 * all.length)
  openProbes(counts.see)
  replaceTexts(probedTexts(guards))
  const of = countOutcomes(all)
  return { settle: counts.settle, reached: () => ({ outcomes: counts.countSeen(), of }) }
}
