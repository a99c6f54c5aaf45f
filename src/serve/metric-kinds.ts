/**
 * Metrics that are read when somebody asks for them: what they tell of has its numbers already.
 * @module
 */
import { Counter, Gauge, type Registry } from 'prom-client'
import type { MaybeLater } from '../waiting.ts'

/** Where it reads `undefined` there is no such line. */
export type AddGauge = (
  name: string,
  help: string,
  read: () => MaybeLater<number | undefined>,
) => void

export const gaugeAdder =
  (registry: Registry): AddGauge =>
  (name, help, read) => {
    const gauge: Gauge = new Gauge({
      name,
      help,
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
  read: () => Lines<L>,
): void {
  const counter: Counter<L> = new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      counter.reset()
      for (const [labels, value] of read()) counter.inc(labels, value)
    },
  })
}

export function addLabelledGauge<L extends string>(
  registry: Registry,
  { name, help, labelNames }: Described<L>,
  read: () => Lines<L>,
): void {
  const gauge: Gauge<L> = new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      for (const [labels, value] of read()) gauge.set(labels, value)
    },
  })
}
