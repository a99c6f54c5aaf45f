/**
 * Reads one token, as plaintext and masked, against a bare route that returns the same bytes.
 * @module
 */
import type { LoadRequest } from '../load.ts'
import { readTokens } from '../requests.ts'
import {
  alternate,
  atMost,
  countText,
  ratioCheck,
  type Bench,
  type Outcome,
  type Scenario,
} from '../scenario.ts'
import { runOn } from '../processor.ts'
import { withCoffer, withElysiaFloor, type Server } from '../servers.ts'

const connections = 32
/** In shorter rounds, code is still being compiled while it is measured. */
const secondsMin = 3

async function compare(bench: Bench, requests: readonly LoadRequest[], folder: string) {
  const [first] = requests
  const seconds = Math.max(secondsMin, bench.seconds)
  if (first === undefined) throw new Error('the data set has no cards')
  return withCoffer(bench, folder, coffer =>
    withElysiaFloor(bench, coffer, first, floor => {
      const load = (server: Server) => () =>
        runOn(bench, server, { requests, connections, seconds })
      return alternate(bench, { coffer: load(coffer), elysia: load(floor) })
    }),
  )
}

interface Reading {
  readonly name: string
  readonly what: string
  readonly as: 'reveal' | 'mask'
  /** Processor time of a request, as a multiple of the bare route's. */
  readonly processorMax: number
}

async function measure(bench: Bench, { name, what, as, processorMax }: Reading): Promise<Outcome> {
  const { large } = bench.tokens
  const { folder, facts } = await bench.vault(large)
  const sides = await compare(bench, readTokens(facts.keys[as], facts.cardIds), folder)
  const title = `${what}, ${countText(large)} tokens, against a bare route`
  const check = (member: 'processorUs' | 'p99Ms', says: string, max: number) =>
    ratioCheck(
      {
        key: `${name}.${member === 'p99Ms' ? 'p99' : 'processor'}`,
        what: `${title}: ${says}`,
        target: atMost(max),
        isSteady: member === 'processorUs',
      },
      member,
      sides.coffer,
      sides.elysia,
    )
  const processor = check('processorUs', 'processor time', processorMax)
  return { sides, checks: as === 'mask' ? [processor] : [processor, check('p99Ms', 'p99', 2.5)] }
}

const scenarioOf = (reading: Reading): Scenario => ({
  name: reading.name,
  run: bench => measure(bench, reading),
})

export const readScenarios: readonly Scenario[] = [
  scenarioOf({
    name: 'reveal',
    what: 'GET /tokens/{id}, revealed',
    as: 'reveal',
    processorMax: 3,
  }),
  scenarioOf({ name: 'masked', what: 'GET /tokens/{id}, masked', as: 'mask', processorMax: 2.8 }),
]
