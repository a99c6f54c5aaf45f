/**
 * Data sets: vaults that the data set maker has filled, each in a folder of its own.
 * @module
 */
import { cpSync, existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readFacts, type Facts } from '../seed/facts.ts'
import type { Mix } from '../seed/contents.ts'
import { runToEnd } from './child.ts'

export interface DataSet {
  readonly folder: string
  readonly facts: Facts
}

const maker = resolve(import.meta.dir, '../seed.ts')

/** @param folder  that does not exist yet */
export async function makeDataSet(folder: string, tokens: number, mix: Mix): Promise<DataSet> {
  const words = ['--data', folder, '--tokens', String(tokens), '--mix', mix]
  await runToEnd([process.execPath, maker, ...words])
  return { folder, facts: readFacts(folder) }
}

/** Makes a copy that may be changed: a server writes into its folder. */
export function copyDataSet({ folder, facts }: DataSet, to: string): DataSet {
  cpSync(folder, to, { recursive: true })
  return { folder: to, facts }
}

let copies = 0

/** Returns the name of a folder that does not exist yet. */
export function freshFolder(parent: string): string {
  copies += 1
  return join(parent, `vault-${copies}`)
}

/**
 * Vaults that nobody changes, each made at its first use.
 * @param given  a folder of the data set maker, which is copied and stays as it is
 */
export function openDataSets(
  parent: string,
  given: string | undefined,
  say: (line: string) => void,
): (tokens: number) => Promise<DataSet> {
  const made = new Map<number, DataSet>()
  if (given !== undefined) {
    const facts = readFacts(given)
    say(`copying ${facts.tokens} tokens`)
    made.set(facts.tokens, copyDataSet({ folder: given, facts }, freshFolder(parent)))
  }
  return async tokens => {
    const known = made.get(tokens)
    if (known !== undefined && existsSync(known.folder)) return known
    say(`making ${tokens} tokens`)
    const dataSet = await makeDataSet(freshFolder(parent), tokens, 'mixed')
    made.set(tokens, dataSet)
    return dataSet
  }
}
