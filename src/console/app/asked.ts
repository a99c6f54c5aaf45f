/**
 * The state of one question to the vault: under way, answered or refused. A later question replaces
 * an earlier one, whose answer then counts for nothing.
 * @module
 */
import { useSignal, type Signal } from '@preact/signals'
import { useCallback, useLayoutEffect, useRef } from 'preact/hooks'
import { ask, type Question, type Refusal } from './vault.ts'

export type AnswerState<T> =
  | { readonly state: 'nothing' }
  | { readonly state: 'loading'; readonly before: T | undefined }
  | { readonly state: 'refused'; readonly refusal: Refusal }
  | { readonly state: 'answered'; readonly value: T }

interface Asking<T> {
  readonly asked: Signal<AnswerState<T>>
  /** @param end aborts it: its answer then counts for nothing */
  readonly run: (question: Question, end?: AbortSignal) => Promise<AnswerState<T>>
}

/** Returns the newest answer, also while the next one is under way. */
export const known = <T>(asked: AnswerState<T>): T | undefined =>
  asked.state === 'answered' ? asked.value : asked.state === 'loading' ? asked.before : undefined

/** For questions that a person asks by a button. */
export function useAsking<T>(): Asking<T> {
  const asked = useSignal<AnswerState<T>>({ state: 'nothing' })
  const turn = useRef(0)
  const run = useCallback(async (question: Question, end?: AbortSignal) => {
    turn.current += 1
    const own = turn.current
    asked.value = { state: 'loading', before: known(asked.peek()) }
    const outcome = await ask<T>(question, end)
    const next: AnswerState<T> =
      outcome.refusal === undefined
        ? { state: 'answered', value: outcome.value }
        : { state: 'refused', refusal: outcome.refusal }
    if (own === turn.current && end?.aborted !== true) asked.value = next
    return next
  }, [])
  return { asked, run }
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
  useLayoutEffect(again, [again])
  return { asked, again }
}
