/**
 * The log as it is told, compared with what the model expects: all of it, and by its filters.
 * @module
 */
import { expect } from 'bun:test'
import fc from 'fast-check'
import { showUtc } from '../instants.ts'
import { sendStep, note, nextTrace, writeAll, type Run } from './server.ts'
import type { Draw } from './requests.ts'
import type { Model, ModelEntry } from './state.ts'

type Item = Readonly<Record<string, unknown>> & { readonly sequence: number }

function show(model: Model, entry: ModelEntry, { sequence, key_id, rule: told }: Item) {
  const { by, ids, atMs, operation, result, reason, traceId } = entry
  const isRefused = reason !== undefined && reason !== 'replay'
  const again = reason === 'replay' ? ' again' : ''
  const end = isRefused ? `refused with ${result}, ${reason}.` : `answered${again} with ${result}.`
  return {
    id: String(sequence),
    sequence,
    tenant_id: model.tenantId,
    actor_id: model.keys[by].id,
    actor_type: model.keys[by].type,
    key_id: model.keyIds.get(by) ?? key_id,
    operation,
    entity_type: entry.entity_type,
    entity_id: ids.length === 1 ? ids[0] : undefined,
    entity_ids: ids.length > 1 ? ids : undefined,
    transform: entry.transform,
    // A conflict may be met before, or after, it is decided what the caller may do.
    rule: result === 409 ? told : entry.rule,
    result,
    reason,
    stated_reason: entry.stated_reason,
    searched: entry.searched,
    message: `${operation} was ${end}`,
    trace_id: traceId,
    created_at: showUtc(atMs),
  }
}

/** True if one entry must stand before another one. */
const isBefore = (a: ModelEntry, b: ModelEntry): boolean =>
  a.epoch < b.epoch || (a.step < b.step && (a.isAwaited || !b.isAwaited))

async function ask(run: Run, query: string): Promise<{ items: Item[]; pagination: Item }> {
  const { vault, model } = run
  const traceId = nextTrace(model)
  const answer = await vault.ask('GET', `/logs?${query}`, {
    key: model.keys.manager.key,
    headers: { 'svc-trace-id': traceId },
  })
  expect([query, answer.status]).toEqual([query, 200])
  const told = { operation: 'listLogs', entity_type: 'log', ids: [], rule: 'log:read', result: 200 }
  note(model, 'manager', traceId, { ...told, isAwaited: false })
  model.step += 1
  const { data, pagination } = answer.body as unknown as { data: Item[]; pagination: Item }
  return { items: data, pagination }
}

const queryOf = (members: Readonly<Record<string, string | number>>): string =>
  new URLSearchParams(
    Object.entries(members).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()

/** Walks to the end. @param between happens after each stretch */
async function walk(
  run: Run,
  filters: Filters,
  size: number,
  between: (turn: number) => Promise<void> = async () => {},
): Promise<Item[]> {
  const all: Item[] = []
  for (let start: unknown = '', turn = 0; start !== undefined; turn += 1) {
    const { items, pagination } = await ask(
      run,
      queryOf({ ...filters, size, start: String(start) }),
    )
    expect(items.length).toBeLessThanOrEqual(size)
    all.push(...items)
    start = pagination['next']
    await between(turn)
  }
  return all
}

async function pages(run: Run, filters: Filters, size: number, count: number): Promise<Item[]> {
  const all: Item[] = []
  for (let page = 1; ; page += 1) {
    const { items, pagination } = await ask(run, queryOf({ ...filters, size, page }))
    expect(pagination as unknown).toEqual({
      total_items: count,
      page_number: page,
      page_size: size,
      total_pages: Math.ceil(count / size),
    })
    if (items.length === 0) return all
    all.push(...items)
  }
}

type Filters = Readonly<Record<string, string>>

/** Entries in their order, oldest first, with the sequences that the log has given them. */
export interface Learned {
  readonly entries: readonly ModelEntry[]
  readonly sequences: ReadonlyMap<ModelEntry, number>
  /** Instant before which all of them were made. */
  readonly endDate: string
}

/** Reads the whole log: it has each entry once, says all of it, and keeps the order. */
export async function learnLog(run: Run): Promise<Learned> {
  const { model } = run
  await writeAll(run)
  const endDate = showUtc(model.nowMs)
  const expected = model.entries.filter(({ atMs }) => atMs < model.nowMs)
  const start_date = showUtc(Math.min(model.nowMs, ...expected.map(({ atMs }) => atMs)))
  const items = await walk(run, { start_date, end_date: endDate }, 100)
  const byTrace = new Map(items.map(item => [item['trace_id'], item]))
  expect(items.map(item => item['trace_id']).toSorted()).toEqual(
    expected.map(({ traceId }) => traceId).toSorted(),
  )
  const sequences = new Map<ModelEntry, number>()
  for (const entry of expected) {
    const item = byTrace.get(entry.traceId)
    if (item === undefined) throw new Error('an entry is missing')
    expect(item as unknown).toEqual(withoutAbsent(show(model, entry, item)))
    model.keyIds.set(entry.by, String(item['key_id']))
    sequences.set(entry, item.sequence)
  }
  const place = (entry: ModelEntry): number => sequences.get(entry) ?? -1
  const entries = expected.toSorted((a, b) => place(a) - place(b))
  expect(items.map(({ sequence }) => sequence)).toEqual(entries.map(place).toReversed())
  entries.forEach((after, at) => {
    for (const before of entries.slice(0, at)) {
      if (isBefore(after, before))
        throw new Error(`stand in the wrong order: ${textOf([before, after])}`)
    }
  })
  return { entries, sequences, endDate }
}

const textOf = (value: unknown): string => JSON.stringify(value, undefined, 1)

const withoutAbsent = (members: object): object =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

const names = [
  'entity_type',
  'entity_id',
  'operation',
  'actor_id',
  'key_id',
  'transform',
  'result',
  'trace_id',
  'start_date',
  'end_date',
  'from',
] as const
type Name = (typeof names)[number]

/** Filters by number: each takes its value from an entry, or one that no entry has. */
export const questions = fc.record({
  names: fc.uniqueArray(fc.constantFrom<Name>(...names), { minLength: 1, maxLength: 2 }),
  picks: fc.tuple(fc.nat(999), fc.nat(999)),
  isSame: fc.boolean(),
  isAbsent: fc.nat({ max: 9 }).map(chance => chance === 0),
  size: fc.integer({ min: 1, max: 12 }),
})
export type Question = typeof questions extends fc.Arbitrary<infer T> ? T : never

const absent: Readonly<Partial<Record<Name, string>>> = {
  entity_type: 'tenant',
  entity_id: 'tok',
  operation: 'GETTOKEN',
  actor_id: '00000000-0000-4000-8000-000000000000',
  key_id: '00000000-0000-4000-8000-000000000000',
  transform: 'reveal',
  result: '599',
  trace_id: 'trace',
  from: '192.0.2.1',
}

function valueOf(model: Model, name: Name, entry: ModelEntry): string | undefined {
  if (name === 'start_date' || name === 'end_date') return showUtc(entry.atMs)
  if (name === 'entity_id') return entry.ids.at(-1)
  if (name === 'actor_id') return model.keys[entry.by].id
  if (name === 'key_id') return model.keyIds.get(entry.by)
  if (name === 'trace_id') return entry.traceId
  if (name === 'from') return undefined
  return entry[name] === undefined ? undefined : String(entry[name])
}

function isMatch(model: Model, filters: Filters, entry: ModelEntry): boolean {
  return names.every(name => {
    const wanted = filters[name]
    if (wanted === undefined) return true
    if (name === 'start_date') return entry.atMs >= Date.parse(wanted)
    if (name === 'end_date') return entry.atMs < Date.parse(wanted)
    if (name === 'entity_id') return entry.ids.includes(wanted)
    return valueOf(model, name, entry) === wanted
  })
}

function filtersOf(model: Model, { entries, endDate }: Learned, question: Question): Filters {
  const { picks, isSame, isAbsent } = question
  const drawn = question.names.flatMap((name, at) => {
    const entry = entries[(picks[isSame ? 0 : at] ?? 0) % entries.length]
    const value = entry === undefined || isAbsent ? absent[name] : valueOf(model, name, entry)
    const some = value ?? absent[name]
    return some === undefined ? [] : [[name, some] as const]
  })
  // Leaves out what reads the log from now on.
  return { end_date: endDate, ...Object.fromEntries(drawn) }
}

/** Asks by pages and by a walk, while the log grows. @param more requests of those who write it */
export async function expectAnswered(
  run: Run,
  learned: Learned,
  question: Question,
  more: readonly Draw[],
): Promise<void> {
  const { model } = run
  const { entries, sequences } = learned
  const filters = filtersOf(model, learned, question)
  // A tenant that was made in this run has older entries, of its making.
  const [first] = entries
  if (first === undefined) return
  const bounded = { start_date: showUtc(first.atMs - 1_000), ...filters }
  const matching = entries.filter(entry => isMatch(model, bounded, entry)).toReversed()
  const expected = matching.map(entry => sequences.get(entry) ?? -1)
  const told = (items: readonly Item[]) => items.map(({ sequence }) => sequence)
  const grow = async (turn: number): Promise<void> => {
    const draw = more[turn]
    if (draw === undefined) return
    await sendStep(run, [draw])
    await writeAll(run)
  }
  const walked = await walk(run, bounded, question.size, grow)
  expect([bounded, told(walked)]).toEqual([bounded, expected])
  const paged = await pages(run, bounded, question.size, expected.length)
  expect([bounded, told(paged)]).toEqual([bounded, expected])
}
