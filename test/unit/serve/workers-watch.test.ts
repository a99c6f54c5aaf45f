/**
 * Reports of several workers, one of which is missing, silent or another than before.
 * @module
 */
import { expect, test } from 'bun:test'
import { printNumbers, type Numbers } from '../../../src/server/watch/metric-kinds.ts'
import type { AskWorker } from '../../../src/server/process/worker-channel.ts'
import type { WorkerProcess } from '../../../src/server/process/worker-process.ts'
import { watchWorkers } from '../../../src/server/watch/workers-watch.ts'
import { valueOf } from '../../support/scrape.ts'

/** @param count `undefined` of one that is silent */
interface Stand {
  count: number | undefined
  free: number
  failing: readonly string[]
}

const numbersOf = ({ count = 0, free }: Stand): Numbers =>
  [
    { name: 'answers', type: 'counter', aggregator: 'sum', value: count },
    { name: 'free', type: 'gauge', aggregator: 'min', value: free },
  ].map(({ value, ...metric }) => ({ ...metric, help: 'h', values: [{ labels: {}, value }] }))

const workerOf = (index: number, stand: Stand): WorkerProcess => ({
  index,
  isReady: Promise.resolve(true),
  ended: new Promise(() => {}),
  silentMs: () => 0,
  ask: (async name => {
    if (stand.count === undefined) return undefined
    return name === 'failing' ? stand.failing : numbersOf(stand)
  }) as AskWorker,
  operate: async () => ({}),
  hand: () => {},
  signal: () => {},
})

const stand = (count: number, free = 5): Stand => ({ count, free, failing: [] })

function watched(...stands: Stand[]) {
  const all = stands.map((one, index) => workerOf(index, one))
  let isStopping = false
  const workers = {
    listening: () => all,
    restarts: () => stands.map(() => 0),
    isStopping: () => isStopping,
  }
  const told = watchWorkers(workers, undefined)
  return {
    all,
    told,
    stop: () => void (isStopping = true),
    print: async () => (await printNumbers(await told.numbers())).text,
  }
}

test('sums what grows, takes the worst of the rest, and joins what fails', async () => {
  const second = { ...stand(4, 2), failing: ['disk', 'fold'] }
  const { told, print, stop } = watched({ ...stand(3), failing: ['disk'] }, second)
  const text = await print()
  expect([valueOf(text, 'answers'), valueOf(text, 'free')]).toEqual([7, 2])
  expect(await told.failing()).toEqual(['disk', 'fold'])
  stop()
  expect(await told.failing()).toEqual(['disk', 'fold', 'stopping'])
})

test('one that is missing is only told of; with none the vault is not ready', async () => {
  const { told, all, print } = watched(stand(3), stand(4))
  await print()
  all.pop()
  expect(await told.failing()).toEqual(['worker_missing'])
  expect(await told.isAlive()).toBe(true)
  const text = await print()
  expect(valueOf(text, 'answers')).toBe(7)
  expect(valueOf(text, 'coffer_worker_up{worker="1"}')).toBe(0)
  expect(valueOf(text, 'coffer_check_failed{check="worker_missing"}')).toBe(1)
  all.pop()
  expect(await told.failing()).toEqual(['workers'])
  expect(valueOf(await print(), 'answers')).toBe(7)
})

test('the counts of workers that are gone stay, however many there were', async () => {
  const { all, print } = watched(stand(3), stand(4))
  for (let lives = 1; lives <= 5; lives += 1) {
    const text = await print()
    expect(valueOf(text, 'answers')).toBe(3 + 4 * lives)
    all[1] = workerOf(1, stand(4))
  }
})

test('one that is silent is told of, and what it counted stays; one that ends is not', async () => {
  const silent = stand(4, 1)
  const { told, all, print } = watched(stand(3), silent)
  await print()
  silent.count = undefined
  expect(await told.isAlive()).toBe(false)
  expect(await told.failing()).toEqual(['workers'])
  const text = await print()
  expect([valueOf(text, 'answers'), valueOf(text, 'free')]).toEqual([7, 5])
  const asked = told.isAlive()
  all.pop()
  expect(await asked).toBe(true)
})
