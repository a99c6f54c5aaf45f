/**
 * The way to a file: every folder and symbolic link that the system passes to get there.
 *
 * Whoever may write any of them decides what is found at its end.
 * @module
 */
import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { symbolicLinksMax } from '../limits.ts'

/** One place on the way, as it is itself: a link is not followed. */
export interface Place {
  readonly path: string
  readonly stats: Stats
}

/** What cannot be looked at is told of by whoever opens it. */
function placeAt(path: string): Place | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    return stats && { path, stats }
  } catch {
    return undefined
  }
}

const namesIn = (path: string): string[] => path.split('/').filter(name => name !== '')

/**
 * From the root to what the path leads to; it ends before the first place that is not there.
 * @returns `end` is absent where nothing is at the end
 */
export function wayTo(path: string): { readonly passed: readonly Place[]; readonly end?: Place } {
  const passed: Place[] = []
  let names = namesIn(resolve(path))
  let at = placeAt('/')
  let links = 0
  while (at !== undefined) {
    const [name, ...rest] = names
    if (name === undefined) return { passed, end: at }
    names = rest
    if (name === '.') continue
    const next = placeAt(name === '..' ? dirname(at.path) : join(at.path, name))
    if (next?.stats.isSymbolicLink() !== true) {
      passed.push(at)
      at = next
      continue
    }
    links += 1
    if (links > symbolicLinksMax) break
    passed.push(at, next)
    const target = readlinkSync(next.path)
    names = [...namesIn(target), ...names]
    if (target.startsWith('/')) at = placeAt('/')
  }
  return { passed }
}
