/**
 * The states that a power cut during a recording may leave, in the requested number.
 *
 * The same recording, seed and count give the same states in the same order, so that several
 * processes can share them, and another can continue after one that died.
 * @module
 */
import { drawFrom, type Draw } from '../draw.ts'
import type { Event } from '../native/recorder.ts'
import {
  applyEvent,
  capacityOf,
  openDisk,
  sectorsOf,
  wholePiece,
  type Disk,
  type Loss,
  type Piece,
} from './disk.ts'
import { openPromises, takeNote, type Note, type Promises } from './promises.ts'

export interface State {
  readonly disk: Disk
  readonly loss: Loss
  /** Promises at that moment. */
  readonly promises: Promises
}

/** A moment at which the power may go: just before an event, or at the end of the recording. */
interface Moment {
  readonly disk: Disk
  readonly promises: Promises
  /** True just before a sync completes, when most may be lost: all of a transaction. */
  readonly isRich: boolean
  readonly isLast: boolean
}

/** Losses of every other moment: nothing kept, all kept, and some drawn. */
const poorLosses = 4
/** After so many repeated draws in a row there is hardly another loss. */
const missesMax = 16

const parse = (text: string): Note => JSON.parse(text) as Note

/** True if a power cut just before this event can differ from one before the last event. */
function isMoment(disk: Disk, event: Event, promises: Promises): boolean {
  if (!promises.isReady) return false
  if (event.is === 'note') return parse(event.text).is === 'acknowledged'
  if (event.is === 'sync') return false
  return disk.pending.length > 0 || event.is === 'synced_write'
}

function* walkMoments(events: readonly Event[]): Generator<Moment> {
  const disk = openDisk(capacityOf(events))
  const promises = openPromises()
  for (const event of events) {
    const isRich = event.is === 'sync_done' && disk.pending.length > 0
    if (isMoment(disk, event, promises)) yield { disk, promises, isRich, isLast: false }
    applyEvent(disk, event)
    if (event.is === 'note') takeNote(promises, parse(event.text))
  }
  yield { disk, promises, isRich: false, isLast: true }
}

const lossOf = (pending: readonly Piece[], keep: (piece: Piece, i: number) => number): Loss => ({
  kept: pending.map(keep),
  isLong: false,
})

/** Pieces whole or lost: every combination if these are few enough, else the plainest. */
function* plainLosses(pending: readonly Piece[], count: number): Generator<Loss> {
  const whole = (piece: Piece, isKept: boolean) => (isKept ? wholePiece(piece) : 0)
  if (2 ** pending.length <= count / 2) {
    for (let choice = 0; choice < 2 ** pending.length; choice += 1) {
      yield lossOf(pending, (piece, i) => whole(piece, (choice & (1 << i)) !== 0))
    }
    return
  }
  yield lossOf(pending, () => 0)
  yield lossOf(pending, piece => whole(piece, true))
  if (count < 4 * pending.length) return
  for (const only of pending.keys()) {
    yield lossOf(pending, (piece, i) => whole(piece, i === only))
    yield lossOf(pending, (piece, i) => whole(piece, i !== only))
  }
}

/** Draws one of: pieces whole or lost; one of them torn; all of them torn. */
function drawLoss(pending: readonly Piece[], draw: Draw): Loss {
  const way = draw(3)
  const torn = draw(pending.length + 1)
  const { kept } = lossOf(pending, (piece, i) => {
    const isTorn = way === 2 || (way === 1 && i === torn)
    if (isTorn) return draw(2 ** sectorsOf(piece))
    return draw(2) === 0 ? 0 : wholePiece(piece)
  })
  return { kept, isLong: draw(2) === 0 }
}

/** Up to `count` different losses; fewer if there are no more. */
function* chooseLosses(pending: readonly Piece[], count: number, draw: Draw): Generator<Loss> {
  const seen = new Set<string>()
  const isNew = (loss: Loss): boolean => {
    const key = loss.kept.join() + loss.isLong
    return !seen.has(key) && seen.add(key) !== undefined
  }
  for (const loss of plainLosses(pending, count)) {
    if (seen.size < count && isNew(loss)) yield loss
  }
  if (pending.length === 0) return
  for (let misses = 0; seen.size < count && misses < missesMax;) {
    const loss = drawLoss(pending, draw)
    const isFresh = isNew(loss)
    misses = isFresh ? 0 : misses + 1
    if (isFresh) yield loss
  }
}

interface Plan {
  readonly richLosses: number
  /** One in so many moments that are not rich is taken. */
  readonly everyPoor: number
}

/** Plans for about `count` states, at least half of them at rich moments. */
function planStates(events: readonly Event[], count: number): Plan {
  let rich = 0
  let poor = 0
  for (const { isRich, disk } of walkMoments(events)) {
    if (isRich) rich += 1
    else poor += disk.pending.length === 0 ? 1 : poorLosses
  }
  const everyPoor = Math.max(1, Math.ceil((2 * poor) / count))
  const left = count - poor / everyPoor
  return { everyPoor, richLosses: Math.max(poorLosses, Math.ceil(left / Math.max(1, rich))) }
}

/**
 * Always includes the last moment.
 * @returns about `count` states; their contents are only valid until the next one is taken
 */
export function* walkStates(
  events: readonly Event[],
  { seed, count }: { readonly seed: number; readonly count: number },
): Generator<State> {
  const draw = drawFrom(seed)
  const { everyPoor, richLosses } = planStates(events, count)
  let poor = 0
  for (const { disk, promises, isRich, isLast } of walkMoments(events)) {
    poor += isRich ? 0 : 1
    if (!isRich && !isLast && poor % everyPoor !== 0) continue
    for (const loss of chooseLosses(disk.pending, isRich ? richLosses : poorLosses, draw)) {
      yield { disk, loss, promises }
    }
  }
}
