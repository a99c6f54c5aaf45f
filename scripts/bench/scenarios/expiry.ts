/**
 * Many tokens that expire in one second: hidden at once, removed soon, and no request waits.
 * @module
 */
import { copyDataSet, freshFolder, type DataSet } from '../data-sets.ts'
import { ask, askJson, type LoadRequest, type LoadResult } from '../load.ts'
import { readTokens, type ListAnswer } from '../requests.ts'
import { atMost, countText, pick, type Bench, type Outcome, type Scenario } from '../scenario.ts'
import { withCoffer, type Server } from '../servers.ts'
import { median } from '../statistics.ts'
import { openRowCount } from '../stored-rows.ts'

const connections = 32
const bodyItems = 1_000
const giveUpMs = 120_000
const pair = { name: 'session', value: 'ending' } as const

/** Number of tokens, and the time to make them before they expire. */
const sizeOf = ({ isQuick }: Bench) =>
  isQuick ? { tokens: 5_000, leadMs: 10_000 } : { tokens: 100_000, leadMs: 90_000 }

/** Makes tokens that expire evenly over the second before `endMs`. */
function endingTokens(key: string, endMs: number, from: number): LoadRequest {
  const items = Array.from({ length: bodyItems }, (_, at) => {
    const expires_at = new Date(endMs - 1 - ((from + at) % 1_000)).toISOString()
    const metadata = { [pair.name]: pair.value }
    return { type: 'token', data: `ends ${from + at}`, metadata, expires_at }
  })
  return { method: 'POST', path: '/tokenize', key, body: JSON.stringify(items) }
}

async function countVisible({ address }: Server, key: string): Promise<number> {
  const path = `/tokens?metadata.${pair.name}=${pair.value}&size=1`
  return (await askJson<ListAnswer>(address, { method: 'GET', path, key })).pagination.total_items
}

async function makeEnding(bench: Bench, server: Server, keys: DataSet['facts']['keys']) {
  const { tokens, leadMs } = sizeOf(bench)
  const endMs = Date.now() + leadMs
  for (let from = 0; from < tokens; from += bodyItems) {
    await ask(server.address, endingTokens(keys.create, endMs, from))
  }
  if (Date.now() > endMs - 2_000) throw new Error('the machine was too slow to make the tokens')
  const visible = await countVisible(server, keys.mask)
  if (visible !== tokens)
    throw new Error(`${visible} of ${tokens} tokens are there before their end`)
  return { tokens, endMs }
}

interface Watched {
  readonly meanwhile: readonly LoadResult[]
  readonly stillVisible: number
  readonly goneSeconds: number
}

/** Reads in short runs, from just before the end until no expired row is left. */
async function watchEnd(
  server: Server,
  vault: DataSet,
  { endMs, rowsAfter }: { readonly endMs: number; readonly rowsAfter: number },
  read: () => Promise<LoadResult>,
): Promise<Watched> {
  const rows = openRowCount(vault.folder)
  const meanwhile: LoadResult[] = []
  let goneMs: number | undefined
  const look = () => {
    if (goneMs === undefined && rows.count() <= rowsAfter) goneMs = Date.now()
  }
  const timer = setInterval(look, 100)
  try {
    await Bun.sleep(Math.max(0, endMs - 1_000 - Date.now()))
    const visible = Bun.sleep(Math.max(0, endMs - Date.now())).then(() =>
      countVisible(server, vault.facts.keys.mask),
    )
    while (goneMs === undefined && Date.now() < endMs + giveUpMs) meanwhile.push(await read())
    const goneSeconds = ((goneMs ?? Number.POSITIVE_INFINITY) - endMs) / 1_000
    return { meanwhile, stillVisible: await visible, goneSeconds: Math.max(0, goneSeconds) }
  } finally {
    clearInterval(timer)
    await rows.close()
  }
}

function outcomeOf(tokens: number, idle: readonly LoadResult[], watched: Watched): Outcome {
  const { meanwhile, stillVisible, goneSeconds } = watched
  const idleMs = median(pick(idle, 'p99Ms'))
  const what = `${countText(tokens)} tokens expire in one second`
  const rest = { isSteady: false }
  return {
    sides: { idle, meanwhile },
    checks: [
      {
        key: 'expiry.visible',
        what: `${what}: still visible after it`,
        unit: 'tokens',
        target: atMost(0),
        values: [stillVisible],
        ...rest,
      },
      {
        key: 'expiry.gone',
        what: `${what}: gone from the disk`,
        unit: 's',
        target: atMost(30),
        values: [goneSeconds],
        ...rest,
      },
      {
        key: 'expiry.p99',
        what: `${what}: p99 of reads meanwhile, against idle`,
        unit: '×',
        target: atMost(1.5),
        values: pick(meanwhile, 'p99Ms').map(ms => ms / idleMs),
        ...rest,
      },
    ],
  }
}

async function measure(bench: Bench): Promise<Outcome> {
  const vault = copyDataSet(await bench.vault(bench.tokens.small), freshFolder(bench.folder))
  const { keys, cardIds } = vault.facts
  return withCoffer(bench, vault.folder, async server => {
    const requests = readTokens(keys.reveal, cardIds)
    const { loads, rounds, seconds } = bench
    const read = () => loads.run({ address: server.address, requests, connections, seconds })
    await read()
    const idle: LoadResult[] = []
    for (let round = 0; round < rounds; round += 1) idle.push(await read())
    const rows = openRowCount(vault.folder)
    const rowsAfter = rows.count()
    await rows.close()
    const { tokens, endMs } = await makeEnding(bench, server, keys)
    const watched = await watchEnd(server, vault, { endMs, rowsAfter }, read)
    return outcomeOf(tokens, idle, watched)
  })
}

export const expiryScenarios: readonly Scenario[] = [{ name: 'expiry', run: measure }]
