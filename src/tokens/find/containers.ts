/**
 * The containers directly below one, of the tokens that a caller may read. The store knows no
 * names: each question asks for the newest token in none of the containers found so far, whose own
 * container is the next one. A token is in one container, so none is missed.
 * @module
 */
import type { Deps } from '../../deps.ts'
import { containersListedMax } from '../../limits/limits.ts'
import type { Budgeted } from '../../records/budgeted.ts'
import type { Caller } from '../../rules/caller.ts'
import { invariant } from '../../lib/errors.ts'
import { allOf, anyOf, without, type Bounds } from './bounds.ts'
import { tokenCriteria, type Criteria } from './criteria.ts'
import { readTokenPage, readTokensBelow } from './pages.ts'
import { visibleTokens } from './visibility.ts'

type Reader = Pick<Deps, 'store' | 'keys' | 'now' | 'elapsedMs' | 'turns'>

/** Containers with the number of tokens in them; those of `below` with all further below. */
export interface ListedContainers {
  readonly container: string
  readonly tokens: number
  readonly below: readonly { readonly container: string; readonly tokens: number }[]
  /** False if there are more below than are listed. */
  readonly isComplete: boolean
}

/**
 * @param inner  below `outer`, both in normal form
 * @returns the one directly below `outer` that covers it
 */
const nextBelow = (outer: string, inner: string): string =>
  inner.slice(0, inner.indexOf('/', outer.length) + 1)

interface Place {
  readonly container: string
  /** Tokens that the caller may read there and below. */
  readonly within: Bounds
  /** Tokens in the container itself. */
  readonly own: Bounds
  readonly covering: Criteria['covering']
  /** Narrows some tokens to those that the caller may read. */
  readonly visibleIn: (part: Bounds) => Bounds
}

function placeOf(reader: Reader, { tenantId, grants }: Caller, container: string): Place {
  const criteria = tokenCriteria(reader.keys, tenantId)
  const { every, covering } = criteria
  const visible = visibleTokens(criteria, grants, 'token:read')
  const visibleIn = (part: Bounds): Bounds =>
    visible === every ? part : part === every ? visible : allOf([visible, part])
  return {
    container,
    within: visibleIn(covering(container)),
    own: criteria.container(container),
    covering,
    visibleIn,
  }
}

interface Found {
  readonly names: readonly string[]
  readonly isComplete: boolean
}

async function find(
  reader: Reader,
  caller: Caller & Budgeted,
  { container, within, covering, own }: Place,
  nowMs: number,
): Promise<Found> {
  const names: string[] = []
  let before: number | undefined
  for (;;) {
    await reader.turns.next(caller)
    const left = without(within, anyOf([own, ...names.map(covering)]))
    const [next] = await readTokensBelow(reader, caller, left, { before, limit: 1, nowMs })
    if (next === undefined) return { names, isComplete: true }
    if (names.length === containersListedMax) return { names, isComplete: false }
    const [inner] = next.record.containers
    invariant(inner !== undefined, 'a token is in a container')
    names.push(nextBelow(container, inner))
    // All newer ones are in the containers found.
    before = next.row.ordinal
  }
}

/**
 * Two questions to the store for each container, and two more.
 * @param container  in normal form
 * @param charge  takes their number once they are known
 * @throws ApiError `overloaded`, `invalid_request` if rules that go by ids would have too many
 *   tokens tested; as `charge`
 */
export async function listContainers(
  reader: Reader,
  caller: Caller & Budgeted,
  container: string,
  charge: (questions: number) => void,
): Promise<ListedContainers> {
  const nowMs = reader.now()
  const place = placeOf(reader, caller, container)
  const { names, isComplete } = await find(reader, caller, place, nowMs)
  charge(2 * names.length + 2)
  const count = async (bounds: Bounds): Promise<number> => {
    await reader.turns.next(caller)
    const window = { offset: 0, limit: 0, nowMs }
    return (await readTokenPage(reader, caller, place.visibleIn(bounds), window)).total
  }
  const below: { container: string; tokens: number }[] = []
  for (const name of names.toSorted()) {
    below.push({ container: name, tokens: await count(place.covering(name)) })
  }
  return { container, tokens: await count(place.own), below, isComplete }
}
