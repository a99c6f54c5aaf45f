/**
 * Lists, searches and totals: measures if they stay flat as the vault grows and rules narrow it.
 * @module
 */
import { askJson, type LoadRequest, type LoadResult } from '../load.ts'
import { countTokens, listCards, searchBoth, type ListAnswer } from '../requests.ts'
import {
  alternate,
  atMost,
  countText,
  pick,
  ratioCheck,
  type Bench,
  type Check,
  type Outcome,
  type Scenario,
  type Side,
} from '../scenario.ts'
import { runOn } from '../processor.ts'
import { withCoffer, type Server } from '../servers.ts'

const connections = 32

const asking =
  (bench: Bench, server: Server, request: LoadRequest): Side =>
  () =>
    runOn(bench, server, { requests: [request], connections, seconds: bench.seconds })

/** @throws when a total differs from the data set's: then the measurement means nothing */
async function assertTotal({ address }: Server, request: LoadRequest, total: number) {
  const { pagination } = await askJson<ListAnswer>(address, request)
  if (pagination.total_items === total) return
  throw new Error(`${request.path.split('?')[0]}: total ${pagination.total_items}, not ${total}`)
}

/** Serves the large vault and the small one; a quick run has only one. */
async function withBothSizes<T>(
  bench: Bench,
  use: (large: Server, small: Server | undefined) => Promise<T>,
): Promise<T> {
  const small = await bench.vault(bench.tokens.small)
  const large = await bench.vault(bench.tokens.large)
  return withCoffer(bench, large.folder, largeServer =>
    small.folder === large.folder
      ? use(largeServer, undefined)
      : withCoffer(bench, small.folder, smallServer => use(largeServer, smallServer)),
  )
}

type Sized = Readonly<Partial<Record<'small', LoadResult[]>> & Record<'large', LoadResult[]>>

/** Returns the ratio of p99 between the sizes; nothing if there is only one. */
function growth(
  { tokens: { small, large } }: Bench,
  name: string,
  limit: number,
  sides: Sized,
): Check[] {
  if (sides.small === undefined) return []
  const what = `${name}: p99 at ${countText(large)} tokens, against ${countText(small)}`
  const check = { key: `${name}.growth`, what, target: atMost(limit), isSteady: false }
  return [ratioCheck(check, 'p99Ms', sides.large, sides.small)]
}

async function measureList(bench: Bench): Promise<Outcome> {
  const { small, large } = bench.tokens
  const smallKey = (await bench.vault(small)).facts.keys.mask
  const { halfCards, keys } = (await bench.vault(large)).facts
  const largeKey = keys.mask
  const deepPage = large / 100
  return withBothSizes(bench, async (largeServer, smallServer) => {
    await assertTotal(largeServer, listCards(largeKey, deepPage), halfCards)
    const sides = await alternate(bench, {
      ...(smallServer && { small: asking(bench, smallServer, listCards(smallKey)) }),
      large: asking(bench, largeServer, listCards(largeKey)),
      deep: asking(bench, largeServer, listCards(largeKey, deepPage)),
    })
    const deep = {
      key: 'list.deep',
      what: `list: page ${deepPage} against page 1, p99, ${countText(large)} tokens`,
      target: atMost(2),
      isSteady: false,
    }
    const processor = {
      key: 'list.processor',
      what: `list of 20 masked cards, ${countText(large)} tokens: processor time`,
      unit: 'µs' as const,
      target: atMost(150),
      isSteady: false,
      values: pick(sides.large, 'processorUs'),
    }
    const checks = [
      processor,
      ...growth(bench, 'list', 1.5, sides),
      ratioCheck(deep, 'p99Ms', sides.deep, sides.large),
    ]
    return { sides, checks }
  })
}

async function measureSearch(bench: Bench): Promise<Outcome> {
  const { small, large } = bench.tokens
  const [smallFacts, { facts }] = [(await bench.vault(small)).facts, await bench.vault(large)]
  return withBothSizes(bench, async (largeServer, smallServer) => {
    await assertTotal(largeServer, searchBoth(facts.keys.mask), facts.both)
    const sides = await alternate(bench, {
      ...(smallServer && { small: asking(bench, smallServer, searchBoth(smallFacts.keys.mask)) }),
      large: asking(bench, largeServer, searchBoth(facts.keys.mask)),
    })
    const matches = `${countText(facts.half.tokens)} × ${countText(facts.tenth.tokens)}`
    const tail = {
      key: 'search.p99',
      what: `search a AND b with its exact total, ${matches} matches: p99`,
      unit: 'ms' as const,
      target: atMost(10),
      isSteady: false,
      values: pick(sides.large, 'p99Ms'),
    }
    return { sides, checks: [tail, ...growth(bench, 'search', 3, sides)] }
  })
}

/** Compared with the committed figures, in a quick run too. */
const limitedRounds = 3

async function measureLimited(bench: Bench): Promise<Outcome> {
  const { folder, facts } = await bench.vault(bench.tokens.large)
  const { keys, container } = facts
  return withCoffer(bench, folder, async server => {
    await assertTotal(server, countTokens(keys.limited), container.tokens)
    await assertTotal(server, countTokens(keys.mask), facts.tokens)
    const rounds = { ...bench, rounds: limitedRounds }
    const sides = await alternate(rounds, {
      limited: asking(bench, server, countTokens(keys.limited)),
      unlimited: asking(bench, server, countTokens(keys.mask)),
    })
    const check = {
      key: 'limited.p50',
      what: `total for a caller of one container of ${container.tokens}, against all: p50`,
      target: atMost(2),
      isSteady: true,
    }
    return { sides, checks: [ratioCheck(check, 'p50Ms', sides.limited, sides.unlimited)] }
  })
}

export const listScenarios: readonly Scenario[] = [
  { name: 'list', run: measureList },
  { name: 'search', run: measureSearch },
  { name: 'limited', run: measureLimited },
]
