/**
 * Facts of a data set, as JSON beside its folder: `<folder>.json`, readable by its owner only,
 * since it holds the keys.
 * @module
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  blockTokens,
  halfPair,
  rarePair,
  rareTokens,
  smallContainer,
  tenthPair,
  type Mix,
} from './contents.ts'
import type { Filled } from './fill.ts'
import type { VaultKeys } from './vault.ts'

interface Pair {
  readonly name: string
  readonly value: string
  readonly tokens: number
}

export interface Facts extends Filled {
  readonly tokens: number
  readonly seed: number
  readonly mix: Mix
  readonly keys: VaultKeys
  readonly half: Pair
  /** Cards that have that pair. */
  readonly halfCards: number
  readonly tenth: Pair
  /** Tokens that have both. */
  readonly both: number
  readonly rare: Pair
  readonly container: { readonly path: string; readonly tokens: number }
  /** Size of the database on the disk. */
  readonly bytesOnDisk: number
  readonly seconds: number
}

const pathOf = (data: string): string => `${data.replace(/\/+$/, '')}.json`

const databaseOf = (data: string): string => join(data, 'store', 'data.mdb')

const blockBytes = 512

export const bytesOnDisk = (data: string): number => statSync(databaseOf(data)).blocks * blockBytes

/** Counts of tokens by property, which follow from the blocks. */
export const sharesOf = (mix: Mix, tokens: number) => {
  const isMixed = mix === 'mixed' && tokens > 0
  return {
    half: { ...halfPair, tokens: tokens / 2 },
    halfCards: isMixed ? (tokens * 6) / blockTokens : tokens / 2,
    tenth: { ...tenthPair, tokens: isMixed ? tokens / 10 : 0 },
    both: isMixed ? tokens / blockTokens : 0,
    rare: { ...rarePair, tokens: isMixed ? rareTokens : 0 },
    container: { ...smallContainer, tokens: isMixed ? smallContainer.tokens : 0 },
  }
}

export function writeFacts(data: string, facts: Facts): string {
  const path = pathOf(data)
  writeFileSync(path, JSON.stringify(facts) + '\n', { mode: 0o600 })
  return path
}

/** @throws when the folder was not made by the data set maker */
export const readFacts = (data: string): Facts =>
  JSON.parse(readFileSync(pathOf(data), 'utf8')) as Facts
