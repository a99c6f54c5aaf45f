/**
 * Reading one token, in the clear and masked, against a bare route that gives the same bytes.
 * @module
 */
import type { LoadRequest } from '../load.ts'
import { readTokens } from '../requests.ts'
import {
  alternate,
  atLeast,
  atMost,
  countText,
  ratioCheck,
  type Bench,
  type Outcome,
  type Scenario,
} from '../scenario.ts'
import { withCoffer, withElysiaFloor } from '../servers.ts'

const connections = 32

async function compare(bench: Bench, requests: readonly LoadRequest[], folder: string) {
  const [first] = requests
  if (first === undefined) throw new Error('the data set has no cards')
  return withCoffer(bench, folder, coffer =>
    withElysiaFloor(bench, coffer, first, floor => {
      const load = (address: string) => () =>
        bench.loads.run({ address, requests, connections, seconds: bench.seconds })
      return alternate(bench, { coffer: load(coffer.address), elysia: load(floor.address) })
    }),
  )
}

interface Reading {
  readonly name: string
  readonly what: string
  readonly as: 'reveal' | 'mask'
  readonly ratio: number
}

async function measure(bench: Bench, { name, what, as, ratio }: Reading): Promise<Outcome> {
  const { large } = bench.tokens
  const { folder, facts } = await bench.vault(large)
  const sides = await compare(bench, readTokens(facts.keys[as], facts.cardIds), folder)
  const title = `${what}, ${countText(large)} tokens, against a bare route`
  const rate = ratioCheck(
    { key: `${name}.rate`, what: `${title}: rate`, target: atLeast(ratio), isSteady: true },
    'perSecond',
    sides.coffer,
    sides.elysia,
  )
  if (as === 'mask') return { sides, checks: [rate] }
  const tail = ratioCheck(
    { key: `${name}.p99`, what: `${title}: p99`, target: atMost(2.5), isSteady: false },
    'p99Ms',
    sides.coffer,
    sides.elysia,
  )
  return { sides, checks: [rate, tail] }
}

const scenarioOf = (reading: Reading): Scenario => ({
  name: reading.name,
  run: bench => measure(bench, reading),
})

export const readScenarios: readonly Scenario[] = [
  scenarioOf({ name: 'reveal', what: 'GET /tokens/{id}, revealed', as: 'reveal', ratio: 0.6 }),
  scenarioOf({ name: 'masked', what: 'GET /tokens/{id}, masked', as: 'mask', ratio: 0.55 }),
]
