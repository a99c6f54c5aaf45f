/**
 * Bit rot: the database of a stopped vault is damaged in one place, then examined by
 * `coffer verify` and served.
 *
 * Never a wrong plaintext, and never a loss that `verify` does not report. A database that `verify`
 * finds clean also takes writes, and is clean after them. Source: hardening D8; F6.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { damageBytes, damageKinds, type DamageKind } from '../damage/damage-file.ts'
import { breachesOf, examine, isUnharmed, layOut, writeInto } from '../damage/examine.ts'
import { makeStoredVault, type StoredVault } from '../damage/stored-vault.ts'
import { drawFrom, pick } from '../draw.ts'
import type { Part, PartOptions } from '../part.ts'

const cases = { full: 1_000, short: 40 } as const
const lanes = 2

interface Tally {
  done: number
  readonly counts: Map<string, number>
  readonly failures: string[]
}

function count({ counts }: Tally, what: string, by = 1): void {
  counts.set(what, (counts.get(what) ?? 0) + by)
}

async function runCase(
  vault: StoredVault,
  database: Uint8Array,
  data: string,
  seed: number,
  tally: Tally,
): Promise<void> {
  const draw = drawFrom(seed)
  const kind: DamageKind = pick(draw, damageKinds) ?? 'flipped bit'
  layOut(vault, data, damageBytes(database, kind, draw))
  const examined = await examine(vault, data)
  const breaches = breachesOf(examined)
  const { server, verify, missing, unreadable, shortLists } = examined
  count(tally, `${kind}: cases`)
  count(tally, 'tokens missing (404)', missing)
  count(tally, 'tokens that are errors', unreadable)
  count(tally, 'lists short or errors', shortLists)
  if (server !== 'served')
    count(tally, server === 'refused' ? 'starts refused' : 'servers that died')
  if (isUnharmed(examined)) count(tally, verify === 'clean' ? 'harmless' : 'found before any harm')
  else if (verify === 'damaged') count(tally, 'harm, reported by verify')
  if (verify === 'clean') breaches.push(...(await writeInto(vault, data)))
  for (const breach of breaches) tally.failures.push(`case seed ${seed}, ${kind}: ${breach}`)
  tally.done += 1
}

const figureNames = [
  ...damageKinds.map(kind => `${kind}: cases`),
  'harmless',
  'found before any harm',
  'harm, reported by verify',
  'tokens missing (404)',
  'tokens that are errors',
  'lists short or errors',
  'starts refused',
  'servers that died',
]

/** Works on cases, given by their seeds, until none are left. */
async function runLane(
  options: PartOptions,
  vault: StoredVault,
  data: string,
  tally: Tally,
  seeds: number[],
) {
  const database = readFileSync(join(vault.data, 'store', 'data.mdb'))
  for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) {
    await runCase(vault, database, data, seed, tally)
    if (tally.done % 100 === 0) {
      options.say(`${tally.done} cases, ${tally.failures.length} failures`)
    }
  }
}

export const rotBits: Part = async options => {
  const vault = await makeStoredVault(options.folder)
  const tally: Tally = { done: 0, counts: new Map(), failures: [] }
  const draw = drawFrom(options.seed)
  const seeds = Array.from({ length: cases[options.size] }, () => draw(2 ** 31))
  const folders = Array.from({ length: lanes }, (_, lane) => join(options.folder, `lane-${lane}`))
  await Promise.all(folders.map(data => runLane(options, vault, data, tally, seeds)))
  const wrong = tally.failures.filter(text => text.includes('wrong answer')).length
  const figures = Object.fromEntries(figureNames.map(name => [name, tally.counts.get(name) ?? 0]))
  const promises = {
    cases: tally.done,
    'wrong plaintexts': wrong,
    'losses that verify does not report': tally.failures.length - wrong,
  }
  return { figures: { ...promises, ...figures }, failures: tally.failures }
}
