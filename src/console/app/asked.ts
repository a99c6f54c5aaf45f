/**
 * The state of one question to the vault: under way, answered or refused. A later question replaces
 * an earlier one, whose answer then counts for nothing.
 * @module
 */
import { signal, useSignal, type Signal } from '@preact/signals'
import { useCallback, useLayoutEffect, useRef } from 'preact/hooks'
import { ask, type Question, type Refusal } from './vault.ts'

export type AnswerState<T> =
  | { readonly state: 'nothing' }
  | { readonly state: 'loading'; readonly before: T | undefined }
  | { readonly state: 'refused'; readonly refusal: Refusal }
  | { readonly state: 'answered'; readonly value: T }

export const nothing = { state: 'nothing' } as const

interface Asking<T> {
  readonly asked: Signal<AnswerState<T>>
  /**
   * @param end aborts it: its answer then counts for nothing
   * @returns `nothing` for an answer that no longer counts
   */
  readonly run: (question: Question, end?: AbortSignal) => Promise<AnswerState<T>>
  /** Forgets the answer, also one that is under way. */
  readonly drop: () => void
}

/** Returns the newest answer, also while the next one is under way. */
export const known = <T>(asked: AnswerState<T>): T | undefined =>
  asked.state === 'answered' ? asked.value : asked.state === 'loading' ? asked.before : undefined

/** For questions that a person asks by a button. */
export function useAsking<T>(): Asking<T> {
  const asked = useSignal<AnswerState<T>>(nothing)
  const turn = useRef(0)
  const underWay = useRef<AbortController | undefined>(undefined)
  const run = useCallback(async (question: Question, end?: AbortSignal) => {
    turn.current += 1
    const own = turn.current
    const dropped = new AbortController()
    underWay.current = dropped
    const signal = end === undefined ? dropped.signal : AbortSignal.any([dropped.signal, end])
    asked.value = { state: 'loading', before: known(asked.peek()) }
    const outcome = await ask<T>(question, signal)
    if (own !== turn.current || signal.aborted) return nothing
    const next: AnswerState<T> =
      outcome.refusal === undefined
        ? { state: 'answered', value: outcome.value }
        : { state: 'refused', refusal: outcome.refusal }
    asked.value = next
    return next
  }, [])
  const drop = useCallback(() => {
    turn.current += 1
    underWay.current?.abort()
    asked.value = nothing
  }, [])
  return { asked, run, drop }
}

/** Number of times that a person has asked for what the screen shows already. */
const asksAnew = signal(0)

/** Asks once more all that the screen has asked by itself. */
export function askAnew(): void {
  asksAnew.value += 1
}

/**
 * For a question that a screen asks by itself.
 * @returns also `again`, which asks it once more
 */
export function useAnswer<T>(question: Question | undefined) {
  const { asked, run } = useAsking<T>()
  const text = JSON.stringify(question)
  const again = useCallback(() => {
    if (text !== undefined) void run(JSON.parse(text) as Question)
  }, [text, run])
  // At once: effects of the other kind wait for a frame without the answer.
  useLayoutEffect(again, [again, asksAnew.value])
  return { asked, again }
}
