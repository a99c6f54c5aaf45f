/**
 * Metrics that are read only on request, from numbers kept elsewhere, and the merging of metrics
 * from several processes.
 * @module
 */
import { AggregatorRegistry, Counter, Gauge, Registry, type Aggregator } from 'prom-client'
import type { MaybeLater } from '../../lib/waiting.ts'

export { Registry }

/** Merges a number of several processes; `max` is the worst value of most numbers. */
type Merging = Extract<Aggregator, 'sum' | 'max' | 'min'>

/** If `read` returns `undefined`, the line is left out. */
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
/** One line each. */
export type Lines<L extends string> = Iterable<readonly [labels: Labels<L>, value: number]>

interface Described<L extends string> {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly L[]
}

/** Adds lines of numbers that only increase. */
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
      // Otherwise a counter without labels would show 0 if it has no line.
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

/** A metric in the form that the library reads and merges. */
interface Numbered {
  readonly name: string
  readonly type: string
  readonly values: readonly NumberLine[]
}

/** One line of a metric. */
export interface NumberLine {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  /** The part of a histogram. */
  readonly metricName?: string
}

/** All numbers of one process, as plain data. */
export type Numbers = readonly Numbered[]

/** Leaves out metrics that have no line now. */
export async function numbersOf(registries: readonly Registry[]): Promise<Numbers> {
  const all = await Promise.all(registries.map(registry => registry.getMetricsAsJSON()))
  return (all.flat() as unknown as Numbers).filter(({ values }) => values.length > 0)
}

const growing: ReadonlySet<string> = new Set(['counter', 'histogram'])

/** Returns the numbers that only increase. */
export const countedIn = (numbers: Numbers): Numbers =>
  numbers.filter(({ type }) => growing.has(type))

const mergedIn = (all: readonly Numbers[]): Registry =>
  AggregatorRegistry.aggregate(all.map(numbers => [...numbers]))

/** Returns each metric once, merged over all processes. */
export const mergeNumbers = (...all: readonly Numbers[]): Promise<Numbers> =>
  numbersOf([mergedIn(all)])

export interface PrintedNumbers {
  readonly text: string
  readonly contentType: string
}

/** Prints in the Prometheus text format, with its media type. */
export async function printNumbers(all: readonly Numbers[]): Promise<PrintedNumbers> {
  const merged = mergedIn(all)
  return { text: await merged.metrics(), contentType: merged.contentType }
}
