/**
 * Life of the fields: they become ready, fail, start anew when the page moves them, and end.
 * @module
 */
import type { CardState, Failure, ToPage } from '../protocol.ts'
import type { Calls } from './calls.ts'
import { ElementsError } from './error.ts'
import type { CardOptions } from './options.ts'

const destroyed: Failure = { code: 'destroyed', message: 'the card fields were destroyed' }
const moved: Failure = { code: 'no_frame', message: 'the page has moved the frame meanwhile' }
const empty: CardState = { complete: false, brand: 'unknown', errors: {} }

export interface FrameLife {
  readonly ready: Promise<void>
  readonly heard: (message: ToPage) => void
  readonly fail: (failure: Failure) => void
  /** Ends the fields; an unused `ready` is not reported as unhandled. */
  readonly end: () => void
  /** @throws ElementsError if they have failed or ended */
  readonly assertThere: () => void
}

type Callbacks = Pick<CardOptions, 'onReady' | 'onChange' | 'onSubmit' | 'onError'>

export function makeLife(
  calls: Calls,
  { onReady, onChange, onSubmit, onError }: Callbacks,
): FrameLife {
  let resolve = (): void => {}
  let reject: (reason: unknown) => void = () => {}
  // `Promise.withResolvers` is missing in browsers more than two years old.
  const ready = new Promise<void>((done, failed) => {
    resolve = done
    reject = failed
  })
  let failure: Failure | undefined
  let isReady = false
  // With `onError`, `ready` may go unused: browsers would report its rejection.
  if (onError !== undefined) ready.catch(() => {})
  const fail = (what: Failure): void => {
    const isFirst = failure === undefined
    failure ??= what
    reject(new ElementsError(failure))
    calls.fail(failure)
    if (isFirst && what !== destroyed) onError?.(new ElementsError(what))
  }
  const begin = (): void => {
    resolve()
    if (isReady) {
      calls.fail(moved)
      onChange?.(empty)
    } else {
      isReady = true
      onReady?.()
    }
  }
  return {
    ready,
    heard(message) {
      if (failure !== undefined) return
      if (message.type === 'ready') begin()
      else if (message.type === 'refused') fail(message.failure)
      else if (message.type === 'change') onChange?.(message.state)
      else if (message.type === 'submit') onSubmit?.()
      else calls.heard(message)
    },
    fail,
    end() {
      ready.catch(() => {})
      fail(destroyed)
    },
    assertThere() {
      if (failure !== undefined) throw new ElementsError(failure)
    },
  }
}
