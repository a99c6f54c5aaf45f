/**
 * `docs/evidence/measurements.md`: its tables show the committed full run, and the graph is there
 * and in `docs/performance.md`.
 * @module
 */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readCommitted } from '../../scripts/bench/committed.ts'
import { sidesTableOf, tableOf } from '../../scripts/bench/report.ts'

const docs = resolve(import.meta.dir, '../../docs')
const text = readFileSync(join(docs, 'evidence/measurements.md'), 'utf8')
const { full, quick } = readCommitted(join(docs, 'performance.json'))

test('the tables are those of the last full run', () => {
  if (full === undefined) throw new Error('no full run is committed')
  expect(text).toContain(tableOf(full))
  expect(text).toContain(sidesTableOf(full))
  for (const fact of [full.machine.date.slice(0, 10), full.machine.commit.split(',')[0]]) {
    expect(text).toContain(fact ?? 'a commit')
  }
})

test('a quick run is committed, which later ones are compared with', () => {
  expect(quick?.findings.filter(({ isSteady }) => isSteady).length).toBeGreaterThanOrEqual(4)
})

test('the graph of latency over size is there', () => {
  expect(text).toContain('](../performance.svg)')
  expect(readFileSync(join(docs, 'performance.md'), 'utf8')).toContain('](performance.svg)')
  expect(existsSync(join(docs, 'performance.svg'))).toBe(true)
})
