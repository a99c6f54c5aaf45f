/**
 * Negative controls: real histories that the checker accepts, each changed in one place as if the
 * vault had broken a promise there. A checker that accepts one of them would miss the real thing.
 * @module
 */
import type { Operation } from './history.ts'
import type { Kind } from './kinds.ts'

/** Changes a copy of a history, or says that it has no place for that. */
export type Control = (history: Operation[]) => boolean

type Answered = Operation & Required<Pick<Operation, 'out' | 'return'>>

const isAnswered = (operation: Operation): operation is Answered => operation.out !== undefined

const answeredOf = (history: readonly Operation[], op: string): Answered[] =>
  history.filter(isAnswered).filter(operation => operation.op === op)

const isBefore = (earlier: Answered, later: Operation): boolean => earlier.return < later.call

/** True if no request of this kind may have happened before the end of an operation. */
const noneUntil = (history: readonly Operation[], of: Answered, ops: readonly string[]): boolean =>
  !history.some(({ part, op, call }) => part === of.part && ops.includes(op) && call <= of.return)

const drop = (history: Operation[], operation: Operation): true => {
  history.splice(history.indexOf(operation), 1)
  return true
}

/** A read tells a value that another write had replaced before. Values are written once. */
function staleRead(history: Operation[]): boolean {
  const writes = [...answeredOf(history, 'create'), ...answeredOf(history, 'patch')].filter(
    ({ out }) => out.status < 300,
  )
  for (const get of answeredOf(history, 'get')) {
    if (get.out.status !== 200) continue
    const before = writes.filter(write => write.part === get.part && isBefore(write, get))
    const stale = before.find(
      old => old.in.value !== get.out.value && before.some(newer => isBefore(old, newer)),
    )
    if (stale === undefined) continue
    get.out = { status: 200, value: stale.in.value ?? '' }
    return true
  }
  return false
}

/** A read tells a value that nobody wrote: the write is taken out. */
function unwrittenRead(history: Operation[]): boolean {
  const read = answeredOf(history, 'get').find(({ out }) => out.status === 200)
  const write = history.find(
    ({ in: { value } }) => value !== undefined && value === read?.out.value,
  )
  return write !== undefined && drop(history, write)
}

/** A list lacks a token that was answered before, and that nobody deleted. */
function lostMember(history: Operation[]): boolean {
  const deleted = new Set(history.flatMap(({ op, in: { id } }) => (op === 'delete' ? [id] : [])))
  const kept = answeredOf(history, 'create').filter(({ in: { id } }) => !deleted.has(id))
  for (const list of answeredOf(history, 'list')) {
    const lost = kept.find(create => create.part === list.part && isBefore(create, list))?.in.id
    const { ids = [] } = list.out
    if (lost === undefined || !ids.includes(lost)) continue
    list.out = { ...list.out, ids: ids.filter(id => id !== lost), total: ids.length - 1 }
    return true
  }
  return false
}

function wrongTotal(history: Operation[]): boolean {
  const list = answeredOf(history, 'list')[0]
  if (list === undefined) return false
  list.out = { ...list.out, total: (list.out.total ?? 0) + 1 }
  return true
}

/** A create of a content that lives makes a second token. */
function secondToken(history: Operation[]): boolean {
  const creates = answeredOf(history, 'create')
  const hit = creates.find(({ part, in: { id }, out, ...rest }) => {
    if (out.value !== 'deduplicated') return false
    const made = creates.find(other => other.in.id === out.id && other.out.value === 'new')
    const isDeleted = history.some(
      other => other.op === 'delete' && other.in.id === out.id && other.call <= rest.return,
    )
    return id !== out.id && made?.part === part && made.return < rest.call && !isDeleted
  })
  if (hit === undefined) return false
  hit.out = { status: 201, id: hit.in.id ?? '', value: 'new' }
  return true
}

/** A deduplicated create is answered with a token that nobody made. */
function unknownToken(history: Operation[]): boolean {
  const hit = answeredOf(history, 'create').find(({ out }) => out.value === 'deduplicated')
  if (hit === undefined) return false
  hit.out = { ...hit.out, id: 'nobody-made-this' }
  return true
}

/** A repetition of a key is answered with another id. */
function secondId(history: Operation[]): boolean {
  const creates = answeredOf(history, 'create').filter(({ out }) => out.status === 201)
  const again = creates.find(one => creates.some(other => other !== one && other.part === one.part))
  if (again === undefined) return false
  again.out = { ...again.out, id: 'second-token' }
  return true
}

/** A request is told "under way" while none is. */
function idleClaim(history: Operation[]): boolean {
  const creates = answeredOf(history, 'create')
  const alone = creates.find(one =>
    history.every(
      other =>
        other === one ||
        other.part !== one.part ||
        other.op === 'list' ||
        (isAnswered(other) && (isBefore(other, one) || isBefore(one, other))),
    ),
  )
  if (alone === undefined) return false
  alone.out = { status: 409, reason: 'under way' }
  return true
}

/** A key is accepted after its end, where it was refused. */
function useAfterEnd(history: Operation[]): boolean {
  const ended = answeredOf(history, 'end').filter(({ in: { value } }) => value !== 'expire')
  const use = answeredOf(history, 'use').find(
    one => one.out.status === 401 && ended.some(end => end.part === one.part && isBefore(end, one)),
  )
  if (use === undefined) return false
  use.out = { status: 200 }
  return true
}

/** A key that lives is refused. */
function refusedEarly(history: Operation[]): boolean {
  const ends = ['end', 'regenerate', 'delete']
  const use = answeredOf(history, 'use').find(
    one => one.out.status < 300 && noneUntil(history, one, ends),
  )
  if (use === undefined) return false
  use.out = { status: 401 }
  return true
}

/** The first key still works after another one was answered. */
function oldKey(history: Operation[]): boolean {
  const changes = answeredOf(history, 'regenerate').filter(({ out }) => out.status === 200)
  const use = answeredOf(history, 'use').find(
    one => one.in.key === 'k0' && changes.some(of => of.part === one.part && isBefore(of, one)),
  )
  if (use === undefined) return false
  use.out = { status: 403 }
  return true
}

/** A request that all grants allow is refused, although they were never changed. */
function lostGrant(history: Operation[]): boolean {
  const ends = ['put', 'regenerate', 'delete']
  const use = answeredOf(history, 'use').find(
    one => one.out.status < 300 && noneUntil(history, one, ends),
  )
  if (use === undefined) return false
  use.out = { status: 403 }
  return true
}

export const controls: Readonly<Record<Kind, Readonly<Record<string, Control>>>> = {
  register: { 'a stale read': staleRead, 'a value that nobody wrote': unwrittenRead },
  set: { 'a lost member': lostMember, 'a wrong total': wrongTotal },
  deduplication: { 'a second token': secondToken, 'a token that nobody made': unknownToken },
  idempotency: { 'a second id': secondId, 'a claim of nobody': idleClaim },
  session: { 'a use after the end': useAfterEnd, 'an end before its time': refusedEarly },
  rights: {
    'an old key that works': oldKey,
    'a live key refused': refusedEarly,
    'a grant lost by itself': lostGrant,
  },
}
