/**
 * The events of the operator's log: `docs/operations.md` names each that the source writes, with
 * the level that its line has.
 * @module
 */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { makeLine } from '../../src/server/watch/log.ts'

const root = resolve(import.meta.dir, '../..')
const page = readFileSync(join(root, 'docs/operations.md'), 'utf8')
const named = new Set([...page.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name))

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts'))
  .map(name => readFileSync(join(root, 'src', name), 'utf8'))

const written = new Set(
  sources.flatMap(text =>
    [...text.matchAll(/\b(?:(?:log|lineOf)\(\s*|repeat\([^)]*)'([a-z_]+)'/g)].map(
      ([, event = '']) => event,
    ),
  ),
)
const ranked = new Set(
  [
    ...readFileSync(join(root, 'src/server/watch/log.ts'), 'utf8').matchAll(/^ {2}'([a-z_]+)',$/gm),
  ].map(([, event = '']) => event),
)

const lineOf = makeLine(
  { logFormat: 'json', logPriority: 'off' },
  { wallMs: () => 0, isTerminal: false, isJournal: false },
)
const levelOf = (event: string): string => (JSON.parse(lineOf(event)) as { level: string }).level

test('each event that the source logs, or gives a level, is named', () => {
  expect(written.size).toBeGreaterThan(40)
  expect(ranked.size).toBeGreaterThan(30)
  expect([...written.union(ranked)].filter(event => !named.has(event))).toEqual([])
})

test('each event of a table with levels has that level', () => {
  const rows = [...page.matchAll(/^\| ((?:`[a-z_]+`(?:, )?)+) \| ((?:info|warning|error).*?) \|/gm)]
  const stated = rows.flatMap(([, events = '', levels = '']) =>
    events.split(', ').map((event, at) => {
      const each = levels.split(', ')
      return [event.slice(1, -1), each[at] ?? each[0]]
    }),
  )
  expect(stated.length).toBeGreaterThan(30)
  expect(stated).toEqual(stated.map(([event = '']) => [event, levelOf(event)]))
})
