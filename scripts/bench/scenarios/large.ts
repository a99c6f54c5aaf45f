/**
 * Creates and reads a token of the maximum size in a loop, beside small reads.
 * @module
 */
import { copyDataSet, freshFolder } from '../data-sets.ts'
import { askJson, type LoadRequest } from '../load.ts'
import { readTokens } from '../requests.ts'
import {
  alternate,
  atMost,
  ratioCheck,
  type Bench,
  type Outcome,
  type Scenario,
} from '../scenario.ts'
import { withCoffer } from '../servers.ts'

const connections = 32
/** With its quotes, the largest data that one token may have. */
const largeText = 'x'.repeat(512 * 1024 - 2)

const createLarge = (key: string): LoadRequest => ({
  method: 'POST',
  path: '/tokens',
  key,
  body: JSON.stringify({ type: 'token', data: largeText }),
})

async function measure(bench: Bench): Promise<Outcome> {
  const vault = copyDataSet(await bench.vault(bench.tokens.small), freshFolder(bench.folder))
  const { keys, cardIds } = vault.facts
  const { loads, seconds } = bench
  return withCoffer(bench, vault.folder, async ({ address }) => {
    const { id } = await askJson<{ id: string }>(address, createLarge(keys.reveal))
    const loop = [createLarge(keys.reveal), ...readTokens(keys.reveal, [id])]
    const requests = readTokens(keys.reveal, cardIds)
    const small = () => loads.run({ address, requests, connections, seconds })
    const large = () => loads.run({ address, requests: loop, connections: 1, seconds })
    const sides = await alternate(bench, {
      idle: small,
      beside: async () => (await Promise.all([small(), large()]))[0],
    })
    const check = {
      key: 'large.p99',
      what: 'p99 of small reads beside one token of 512 KiB in a loop, against idle',
      target: atMost(3),
      isSteady: false,
    }
    return { sides, checks: [ratioCheck(check, 'p99Ms', sides.beside, sides.idle)] }
  })
}

export const largeScenarios: readonly Scenario[] = [{ name: 'large', run: measure }]
