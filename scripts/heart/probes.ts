/**
 * Texts of the heart with a probe at each guard, and the counts of the probes.
 * @module
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { root } from './files.ts'
import type { Guard } from './guard.ts'

interface Insertion {
  readonly at: number
  readonly text: string
}

const probe = ({ probe: { kind, start, end } }: Guard, id: number): Insertion[] => {
  if (start === end) return [{ at: start, text: `;__reach(${id});` }]
  const opening = kind === 'reach' ? `(__reach(${id}), ` : `__${kind}(${id}, `
  return [
    { at: start, text: opening },
    { at: end, text: ')' },
  ]
}

/**
 * Returns the text of a file with its probes. Guards come outer ones first, so probes that open at
 * one position open in that order; those that close there are all the same.
 * @param firstId  number of the file's first guard
 */
export const withProbes = (file: string, guards: readonly Guard[], firstId: number): string => {
  const text = readFileSync(resolve(root, file), 'utf8')
  const insertions = guards.flatMap((guard, index) => probe(guard, firstId + index))
  let probed = ''
  let from = 0
  for (const { at, text: inserted } of insertions.toSorted((a, b) => a.at - b.at)) {
    probed += text.slice(from, at) + inserted
    from = at
  }
  return probed + text.slice(from)
}

/** Returns every file with its probes; a guard's number is its index in the list of all. */
export const probedTexts = (
  guards: ReadonlyMap<string, readonly Guard[]>,
): ReadonlyMap<string, string> => {
  let firstId = 0
  const texts = new Map<string, string>()
  for (const [file, own] of guards) {
    texts.set(file, withProbes(file, own, firstId))
    firstId += own.length
  }
  return texts
}
