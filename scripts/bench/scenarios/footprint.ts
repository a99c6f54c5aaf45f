/**
 * Footprint of the vault: start-up time, memory, disk.
 * @module
 */
import { rmSync } from 'node:fs'
import { bytesOnDisk } from '../../seed/facts.ts'
import { startChild } from '../child.ts'
import { copyDataSet, freshFolder, makeDataSet, type DataSet } from '../data-sets.ts'
import { ask, type LoadRequest } from '../load.ts'
import { anonymousMb, canReadMemory, watchMemory } from '../process-memory.ts'
import { createCards, listCards, readTokens, searchBoth } from '../requests.ts'
import {
  atMost,
  countText,
  type Bench,
  type Check,
  type Outcome,
  type Scenario,
} from '../scenario.ts'
import { withCoffer } from '../servers.ts'

const ownRecord = (key: string): LoadRequest => ({ method: 'GET', path: '/applications/key', key })

/** Ten million tokens have targets of their own. */
const isHuge = ({ tokens }: Bench): boolean => tokens.large >= 10_000_000

/** Milliseconds from the start of the process to the first answer that needs the store. */
async function startOnce({ coffer }: Bench, { folder, facts }: DataSet): Promise<number> {
  const startedMs = performance.now()
  const child = await startChild([...coffer, 'serve', '--data', folder, '--port', '0'])
  await ask(child.ready.split(' ').at(-1) ?? '', ownRecord(facts.keys.reveal))
  const endedMs = performance.now()
  await child.stop()
  return endedMs - startedMs
}

async function measureStart(bench: Bench): Promise<Outcome> {
  const { large } = bench.tokens
  const empty = await makeDataSet(freshFolder(bench.folder), 0, 'mixed')
  const full = await bench.vault(large)
  const times = { empty: [] as number[], full: [] as number[] }
  // The first starts read the binary and the database from the disk.
  for (const vault of [empty, full]) await startOnce(bench, vault)
  for (let round = 0; round < 2 * bench.rounds; round += 1) {
    times.empty.push(await startOnce(bench, empty))
    times.full.push(await startOnce(bench, full))
  }
  const checkOf = (key: string, what: string, limit: number, values: number[]): Check => ({
    key,
    what: `start to first answer, ${what}`,
    unit: 'ms',
    target: atMost(limit),
    values,
    isSteady: false,
  })
  return {
    checks: [
      checkOf('start.empty', 'empty', 60, times.empty),
      checkOf('start.full', `${countText(large)} tokens`, isHuge(bench) ? 300 : 100, times.full),
    ],
  }
}

/** Plaintext reads, masked reads, lists, searches and creates, one after the other. */
function mixedRequests({ keys, cardIds }: DataSet['facts'], round: number): LoadRequest[] {
  const creates = createCards(keys.create, round, 1)
  return cardIds.flatMap((id, at) => {
    const requests = [...readTokens(keys.reveal, [id]), ...readTokens(keys.mask, [id])]
    const create = creates[at]
    if (create !== undefined) requests.push(create)
    if (at % 10 === 0) requests.push(listCards(keys.mask), searchBoth(keys.mask))
    return requests
  })
}

async function measureMemory(bench: Bench): Promise<Outcome> {
  if (!canReadMemory()) return { checks: [], skipped: 'only Linux tells what is needed' }
  const { large } = bench.tokens
  const { folder, facts } = copyDataSet(await bench.vault(large), freshFolder(bench.folder))
  const idle: number[] = []
  const busy: number[] = []
  for (let round = 0; round < (bench.isQuick ? 1 : 3); round += 1) {
    await withCoffer(bench, folder, async ({ address, pid }) => {
      await ask(address, ownRecord(facts.keys.reveal))
      await Bun.sleep(1_000)
      idle.push(anonymousMb(pid))
      const stop = watchMemory(pid)
      const requests = mixedRequests(facts, round)
      await bench.loads.run({ address, requests, connections: 32, seconds: 3 * bench.seconds })
      busy.push(stop())
    })
  }
  rmSync(folder, { recursive: true })
  const memory = { unit: 'MB' as const, isSteady: false }
  const what = `memory without page cache, ${countText(large)} tokens`
  return {
    checks: [
      { key: 'memory.idle', what: `${what}: idle`, target: atMost(80), values: idle, ...memory },
      {
        key: 'memory.busy',
        what: `${what}: most under load`,
        target: atMost(isHuge(bench) ? 200 : 160),
        values: busy,
        ...memory,
      },
    ],
  }
}

/** Only cards, each with 8 terms, without the size of an empty vault. */
async function measureDisk(bench: Bench): Promise<Outcome> {
  const { large } = bench.tokens
  const empty = await makeDataSet(freshFolder(bench.folder), 0, 'cards')
  const cards = await makeDataSet(freshFolder(bench.folder), large, 'cards')
  const bytes = bytesOnDisk(cards.folder) - bytesOnDisk(empty.folder)
  rmSync(cards.folder, { recursive: true })
  const check: Check = {
    key: 'disk.card',
    what: `disk of a card token with 8 terms, ${countText(large)} of them`,
    unit: 'bytes',
    target: atMost(600),
    values: [bytes / large],
    isSteady: false,
  }
  return { checks: [check] }
}

export const footprintScenarios: readonly Scenario[] = [
  { name: 'start', run: measureStart },
  { name: 'memory', run: measureMemory },
  { name: 'disk', run: measureDisk },
]
