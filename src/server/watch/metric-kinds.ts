/**
 * Metrics that are read when somebody asks for them: what they tell of has its numbers already; and
 * how those of several processes become one answer.
 * @module
 */
import { AggregatorRegistry, Counter, Gauge, Registry, type Aggregator } from 'prom-client'
import type { MaybeLater } from '../../lib/waiting.ts'

export { Registry }

/** How one number is made of those that several processes tell; `max` is the worst of most. */
type Merging = Extract<Aggregator, 'sum' | 'max' | 'min'>

/** Where it reads `undefined` there is no such line. */
export type AddGauge = (
  name: string,
  help: string,
  read: () => MaybeLater<number | undefined>,
  aggregator?: Merging,
) => void

export const gaugeAdder =
  (registry: Registry): AddGauge =>
  (name, help, read, aggregator = 'max') => {
    const gauge: Gauge = new Gauge({
      name,
      help,
      aggregator,
      registers: [registry],
      async collect() {
        const value = await read()
        if (value === undefined) gauge.remove()
        else gauge.set(value)
      },
    })
  }

type Labels<L extends string> = Readonly<Record<L, string>>
/** A line each. */
export type Lines<L extends string> = Iterable<readonly [labels: Labels<L>, value: number]>

interface Described<L extends string> {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly L[]
}

/** Lines of numbers that only grow. */
export function addCounter<L extends string>(
  registry: Registry,
  { name, help, labelNames }: Described<L>,
  read: () => MaybeLater<Lines<L>>,
): void {
  const counter: Counter<L> = new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      const lines = await read()
      counter.reset()
      // Else one without labels would be told as 0 where there is none.
      if (labelNames.length === 0) counter.remove()
      for (const [labels, value] of lines) counter.inc(labels, value)
    },
  })
}

export function addLabelledGauge<L extends string>(
  registry: Registry,
  { name, help, labelNames, aggregator }: Described<L> & { readonly aggregator: Merging },
  read: () => Lines<L>,
): void {
  const gauge: Gauge<L> = new Gauge({
    name,
    help,
    labelNames,
    aggregator,
    registers: [registry],
    collect() {
      gauge.reset()
      for (const [labels, value] of read()) gauge.set(labels, value)
    },
  })
}

export const secondsOf = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : ms / 1_000

/** As the library reads and merges one of them. */
interface Numbered {
  readonly type: string
  readonly values: readonly unknown[]
}

/** All numbers of one process, as plain data. */
export type Numbers = readonly Numbered[]

/** Without metrics that have no line now. */
export async function numbersOf(registries: readonly Registry[]): Promise<Numbers> {
  const all = await Promise.all(registries.map(registry => registry.getMetricsAsJSON()))
  return (all.flat() as unknown as Numbers).filter(({ values }) => values.length > 0)
}

const growing: ReadonlySet<string> = new Set(['counter', 'histogram'])

/** Of the numbers, those that only grow. */
export const countedIn = (numbers: Numbers): Numbers =>
  numbers.filter(({ type }) => growing.has(type))

const mergedIn = (all: readonly Numbers[]): Registry =>
  AggregatorRegistry.aggregate(all.map(numbers => [...numbers]))

/** Each metric once, over all of them. */
export const mergeNumbers = (...all: readonly Numbers[]): Promise<Numbers> =>
  numbersOf([mergedIn(all)])

export interface PrintedNumbers {
  readonly text: string
  readonly contentType: string
}

/** In the text format of Prometheus, with its media type. */
export async function printNumbers(all: readonly Numbers[]): Promise<PrintedNumbers> {
  const merged = mergedIn(all)
  return { text: await merged.metrics(), contentType: merged.contentType }
}
