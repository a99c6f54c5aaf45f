/**
 * Explains access to single tokens, and simulates changes of ten rules over all of them.
 * @module
 */
import { rmSync } from 'node:fs'
import { copyDataSet, freshFolder } from '../data-sets.ts'
import { askJson, type LoadRequest } from '../load.ts'
import { oneAtATime } from '../one-at-a-time.ts'
import { readTokens, type ListAnswer } from '../requests.ts'
import {
  alternate,
  atMost,
  countText,
  pick,
  type Bench,
  type Outcome,
  type Scenario,
} from '../scenario.ts'
import { runOn } from '../processor.ts'
import { withCoffer, type Server } from '../servers.ts'

const ruleCount = 10
/** Each differs from all others, so that no count is known from before. */
const proposals = 400
const permissions = ['token:read', 'token:search']
const transforms = ['redact', 'mask', 'reveal'] as const

/** The containers of the data set maker. */
const containerAt = (index: number): string => `/customers/c${index}/`

const rulesOf = (transformAt: (index: number) => string) =>
  Array.from({ length: ruleCount }, (_, index) => ({
    priority: index + 1,
    container: containerAt(index),
    transform: transformAt(index),
    permissions,
  }))

const asked = (key: string, path: string, body: object): LoadRequest => ({
  method: 'POST',
  path,
  key,
  body: JSON.stringify(body),
})

/** Rules by the digits of a number, the first container last, so that all are read. */
const proposalAt = (number: number) =>
  rulesOf(index => transforms[Math.floor(number / 3 ** index) % 3] ?? 'mask')

interface Simulated {
  readonly changes: readonly { readonly permission: string; readonly count: number }[]
}

/** @throws when counts are not those of lists: then the measurement means nothing */
async function assertExact({ address }: Server, key: string, simulate: LoadRequest) {
  const { changes } = await askJson<Simulated>(address, simulate)
  const counted = changes
    .filter(({ permission }) => permission === 'token:read')
    .reduce((sum, { count }) => sum + count, 0)
  const filter = Array.from({ length: ruleCount }, (_, at) => `container=${containerAt(at)}`)
  const path = `/tokens?size=1&${filter.join('&')}`
  const { pagination } = await askJson<ListAnswer>(address, { method: 'GET', path, key })
  if (counted === pagination.total_items) return
  throw new Error(`simulate: ${counted} tokens change, not ${pagination.total_items}`)
}

async function measure(bench: Bench): Promise<Outcome> {
  const { large } = bench.tokens
  const vault = copyDataSet(await bench.vault(large), freshFolder(bench.folder))
  const { keys, cardIds } = vault.facts
  const { seconds } = bench
  const sides = await withCoffer(bench, vault.folder, async server => {
    const { address } = server
    const rules = rulesOf(() => 'mask')
    const body = { name: 'Simulated', type: 'private', rules }
    const { id } = await askJson<{ id: string }>(
      address,
      asked(keys.manager, '/applications', body),
    )
    const simulating = (proposed: object) =>
      asked(keys.manager, '/access/simulate', { application_id: id, proposed })
    await assertExact(server, keys.mask, simulating({ rules: rulesOf(() => 'reveal') }))
    const explaining = cardIds.map(token_id =>
      asked(keys.manager, '/access/explain', {
        application_id: id,
        permission: 'token:read',
        token_id,
      }),
    )
    const run = (requests: readonly LoadRequest[]) => () =>
      runOn({ loads: oneAtATime }, server, { requests, connections: 1, seconds })
    return alternate(bench, {
      'masked GET': run(readTokens(keys.mask, cardIds)),
      explain: run(explaining),
      simulate: round =>
        run(
          Array.from({ length: proposals }, (_, at) =>
            simulating({ rules: proposalAt(round * proposals + at) }),
          ),
        )(),
    })
  })
  rmSync(vault.folder, { recursive: true })
  const tokens = countText(large)
  const check = { unit: 'ms', isSteady: false } as const
  return {
    sides,
    checks: [
      {
        ...check,
        key: 'access.explain',
        what: `POST /access/explain, ${ruleCount} rules, ${tokens} tokens: p99`,
        target: atMost(2),
        values: pick(sides.explain, 'p99Ms'),
      },
      {
        ...check,
        key: 'access.simulate',
        what: `POST /access/simulate, ${ruleCount} rules, ${tokens} tokens, exact: p99`,
        target: atMost(100),
        values: pick(sides.simulate, 'p99Ms'),
      },
    ],
  }
}

export const accessScenarios: readonly Scenario[] = [
  { name: 'access', isFullOnly: true, run: measure },
]
