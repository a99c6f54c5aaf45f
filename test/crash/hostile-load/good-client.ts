/**
 * A client that does no harm, at a steady pace beside one that does: measures how it fares.
 * @module
 */
import { quantile } from '../../../scripts/bench/statistics.ts'
import { connectTo, type Ground } from './ground.ts'

export interface Fared {
  readonly requests: number
  readonly p99Ms: number
  /** p99 without the longest: the p99 of fewer than a hundred is the longest itself. */
  readonly othersP99Ms: number
  readonly longestMs: number
}

export interface Pace {
  readonly connections: number
  /** Time between an answer and the next request. */
  readonly restMs: number
  readonly asks: 'reads' | 'creates'
}

type Asked = readonly [method: string, path: string, question: object, status: number]

/** One in four reads is a list. */
function askOf(key: string, asks: Pace['asks'], count: number): Asked {
  const body = { type: 'token', data: count }
  if (asks === 'creates') return ['POST', '/tokens', { key, body }, 201]
  if (count % 4 === 0) return ['GET', '/tokens?size=5', { key }, 200]
  return ['GET', `/tokens/kept-${count % 100}`, { key }, 200]
}

async function useOnce(
  ground: Ground,
  { restMs, asks }: Pace,
  times: number[],
  isOver: () => boolean,
): Promise<void> {
  const connection = await connectTo(ground)
  for (let count = 0; !isOver(); count += 1) {
    const [method, path, question, expected] = askOf(ground.keys.private, asks, count)
    const startedMs = performance.now()
    const { status } = await connection.ask(method, path, question)
    times.push(performance.now() - startedMs)
    if (status !== expected) ground.failures.push(`a good client was answered ${status}`)
    await Bun.sleep(restMs)
  }
  connection.close()
}

/** Goes on until the promise settles. Any request without its right answer is a failure. */
export async function fareUntil(ground: Ground, pace: Pace, end: Promise<unknown>): Promise<Fared> {
  let isOver = false
  const over = end.finally(() => (isOver = true))
  const times: number[] = []
  const { connections } = pace
  const clients = Array.from({ length: connections }, () =>
    useOnce(ground, pace, times, () => isOver),
  )
  await Promise.all([over, ...clients])
  return faredOf(times)
}

export function faredOf(times: readonly number[]): Fared {
  const longestMs = Math.max(...times)
  const others = times.toSorted((a, b) => a - b).slice(0, -1)
  const othersP99Ms = others.length === 0 ? longestMs : quantile(others, 0.99)
  return { requests: times.length, p99Ms: quantile(times, 0.99), othersP99Ms, longestMs }
}

export const faredText = ({ requests, p99Ms, longestMs }: Fared): string =>
  `${requests} · ${msOf(p99Ms)}, ${msOf(longestMs)}`

export const msOf = (ms: number): string => ms.toFixed(1)
