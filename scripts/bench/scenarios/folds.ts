/**
 * Reads while a fold indexes the latest writes, and no new writes come.
 * @module
 */
import { rmSync } from 'node:fs'
import { foldRowsDefault } from '../../../src/limits/setting-limits.ts'
import { copyDataSet, freshFolder } from '../data-sets.ts'
import { ask } from '../load.ts'
import { readTokens, tokenizeCards } from '../requests.ts'
import {
  alternate,
  atMost,
  countText,
  ratioCheck,
  type Bench,
  type Outcome,
  type Scenario,
} from '../scenario.ts'
import { withCoffer } from '../servers.ts'

const connections = 32
/** More rows than memory takes before a fold begins. */
const bulk = { bodies: Math.ceil(foldRowsDefault / 1_000) + 1, items: 1_000 } as const
const restMs = 5_000
/** A fold takes longer than this if no writes share its steps. */
const seconds = 1

async function measure(bench: Bench): Promise<Outcome> {
  const { large } = bench.tokens
  const vault = copyDataSet(await bench.vault(large), freshFolder(bench.folder))
  const { keys, cardIds } = vault.facts
  const requests = readTokens(keys.reveal, cardIds)
  const sides = await withCoffer(bench, vault.folder, ({ address }) => {
    const read = () => bench.loads.run({ address, requests, connections, seconds })
    return alternate(bench, {
      idle: read,
      async folding(round) {
        for (const body of tokenizeCards(keys.create, round, bulk)) await ask(address, body)
        const result = await read()
        // The idle side comes next: the rest of the fold must be over.
        await Bun.sleep(restMs)
        return result
      },
    })
  })
  rmSync(vault.folder, { recursive: true })
  const [rows, tokens] = [countText(foldRowsDefault), countText(large)]
  const what = `p99 of reads while ${rows} rows are folded, ${tokens} tokens, against idle`
  const check = { key: 'fold.p99', what, target: atMost(1.5), isSteady: false }
  return { sides, checks: [ratioCheck(check, 'p99Ms', sides.folding, sides.idle)] }
}

export const foldScenarios: readonly Scenario[] = [{ name: 'fold', isFullOnly: true, run: measure }]
