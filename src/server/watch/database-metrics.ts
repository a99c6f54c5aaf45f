/**
 * Metrics of a vault whose store is in a database: how the vault uses it. The health of the
 * database itself, its disk and its standbys is for the database's own monitoring.
 * @module
 */
import type { Registry } from 'prom-client'
import type { DatabaseFigures, PoolFigures } from '../../store/postgres/counters.ts'
import { addCounter, addLabelledGauge, gaugeAdder, secondsOf, type Lines } from './metric-kinds.ts'

/** `undefined` if there is no database, or the vault is sealed. */
type Read = () => DatabaseFigures | undefined

const labelNames = ['pool'] as const

function ofPools(read: Read, figure: (pool: PoolFigures) => number): () => Lines<'pool'> {
  return () =>
    Object.entries(read()?.pools ?? {}).map(([pool, figures]) => [{ pool }, figure(figures)])
}

function addPools(registry: Registry, read: Read): void {
  addLabelledGauge(
    registry,
    {
      name: 'coffer_database_connections',
      help: 'at most, at once, by pool',
      labelNames,
      aggregator: 'sum',
    },
    ofPools(read, ({ connections }) => connections),
  )
  const inFlight = 'statements and transactions under way; beyond the connections they wait'
  addLabelledGauge(
    registry,
    { name: 'coffer_database_in_flight', help: inFlight, labelNames, aggregator: 'sum' },
    ofPools(read, figures => figures.inFlight),
  )
  addCounter(
    registry,
    {
      name: 'coffer_database_statements_total',
      help: 'single statements, and transactions, by pool',
      labelNames,
    },
    ofPools(read, ({ begun }) => begun),
  )
  addCounter(
    registry,
    {
      name: 'coffer_database_timeouts_total',
      help: 'of these, those that were not answered in time',
      labelNames,
    },
    ofPools(read, ({ timeouts }) => timeouts),
  )
}

function* failuresOf(figures: DatabaseFigures | undefined): Lines<'pool' | 'kind'> {
  for (const [pool, { failures }] of Object.entries(figures?.pools ?? {})) {
    for (const [kind, count] of Object.entries(failures)) yield [{ pool, kind }, count]
  }
}

function addFailures(registry: Registry, read: Read): void {
  addCounter(
    registry,
    {
      name: 'coffer_database_failures_total',
      help: 'statements and transactions that failed, by pool and kind of trouble',
      labelNames: ['pool', 'kind'] as const,
    },
    () => failuresOf(read()),
  )
  const plain = (name: string, help: string, figure: (all: DatabaseFigures) => number): void =>
    addCounter(registry, { name, help, labelNames: [] }, () => {
      const figures = read()
      return figures === undefined ? [] : [[{}, figure(figures)]]
    })
  plain(
    'coffer_database_retries_total',
    'groups of writes that were tried again, each time',
    ({ retries }) => retries,
  )
  plain('coffer_database_folds_total', 'folds by this vault', ({ folds }) => folds)
  plain(
    'coffer_database_fold_failures_total',
    'folds by this vault that failed, without races that it lost',
    ({ foldFailures }) => foldFailures,
  )
}

/** @param read does not query the database, so that it also works while that is down */
export function addDatabaseMetrics(registry: Registry, read: Read): void {
  const add = gaugeAdder(registry)
  addPools(registry, read)
  addFailures(registry, read)
  addLabelledGauge(
    registry,
    {
      name: 'coffer_database_lease',
      help: '1 where this vault sweeps, or folds, for all',
      labelNames: ['task'] as const,
      aggregator: 'max',
    },
    () => Object.entries(read()?.leases ?? {}).map(([task, isHeld]) => [{ task }, Number(isHeld)]),
  )
  add(
    'coffer_database_writes_waiting',
    'writes that wait for the group that takes them along',
    () => read()?.writesWaiting,
    'sum',
  )
  add(
    'coffer_database_clock_skew_seconds',
    'by how much the clock of this machine is ahead of that of the database',
    () => secondsOf(read()?.skewMs),
  )
  add(
    'coffer_database_silent_seconds',
    'since the database answered last, as one that takes writes',
    () => secondsOf(read()?.silentMs),
  )
}
