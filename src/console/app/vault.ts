/**
 * Requests to the vault that serves this page, by its interface and the key of the sitting.
 * @module
 */
import { parseExact } from './exact-json.ts'
import { answerMsMax } from './limits.ts'
import { holdLogKey, keyInUse, lock, logKeyInUse, sittingSignal } from './sitting.ts'

/** An answer that is none of what was asked for. */
export interface Refusal {
  /** Status of the answer; 0 where none came. */
  readonly status: number
  readonly text: string
  /** Permission that the key lacks. */
  readonly missing?: string
  /** True if the second key was refused, which is forgotten then. */
  readonly isOfLogKey?: true
  /** Faults of the request, by path. */
  readonly errors?: Readonly<Record<string, readonly string[]>>
}

export type Told<T> =
  { readonly value: T; readonly refusal?: never } | { readonly refusal: Refusal }

export interface Question {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below the address of the vault, with its query. */
  readonly path: string
  readonly body?: unknown
  /** Body that is JSON already. */
  readonly text?: string
  /** Why it is asked, for the audit log. */
  readonly reason?: string
  /** True to ask by the second key, where one is held. */
  readonly isByLogKey?: boolean
}

interface ProblemText {
  readonly detail?: string
  readonly title?: string
  readonly errors?: Readonly<Record<string, readonly string[]>>
}

/** Address of the vault: this page is at `/console` below it. */
const base = (): string => location.pathname.replace(/\/console\/?$/, '')

const missingIn = (text: string): string | undefined =>
  /\b(?:permission|with) ([a-z]+:[a-z]+)/.exec(text)?.[1]

function refusalOf(status: number, text: string): Refusal {
  let problem: ProblemText = {}
  try {
    problem = JSON.parse(text) as ProblemText
  } catch {
    // Something between this page and the vault has answered.
  }
  const { detail, title, errors } = problem
  const told = Object.entries(errors ?? {}).map(([path, says]) => `${path}: ${says.join(', ')}`)
  const says = told.length > 0 ? told.join('; ') : (detail ?? title ?? `The answer was ${status}.`)
  const missing = status === 403 ? missingIn(says) : undefined
  return {
    status,
    text: says,
    ...(missing === undefined ? {} : { missing }),
    ...(errors === undefined ? {} : { errors }),
  }
}

/** Headers carry ASCII alone. */
const reasonHeader = (reason: string | undefined) =>
  reason === undefined
    ? {}
    : { 'SVC-REASON': reason.toWellFormed().replaceAll(/[^ -~]|%/gu, encodeURIComponent) }

function initOf(
  { method = 'GET', body, text = JSON.stringify(body), reason }: Question,
  key: string,
  end: AbortSignal | undefined,
): RequestInit {
  const json = text === undefined ? {} : { 'Content-Type': 'application/json' }
  return {
    method,
    headers: { 'SVC-API-KEY': key, ...json, ...reasonHeader(reason) },
    signal: AbortSignal.any([
      sittingSignal(),
      AbortSignal.timeout(answerMsMax),
      ...(end === undefined ? [] : [end]),
    ]),
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
    referrerPolicy: 'no-referrer',
    ...(text === undefined ? {} : { body: text }),
  }
}

const unreachable: Refusal = {
  status: 0,
  text: 'The vault did not answer. Look whether it runs, then try again.',
}

/** A key of its own reads the log, where one was given. */
const keyFor = ({ path, isByLogKey = path.startsWith('/logs') }: Question): string | undefined =>
  (isByLogKey ? logKeyInUse() : undefined) ?? keyInUse()

/** Forgets the key that the vault does not take, and a second one that may not read the log. */
function dropRefused(key: string, refusal: Refusal): Refusal {
  const isUnknown = refusal.status === 401
  // The key of a later sitting is not to blame.
  if (isUnknown && keyInUse() === key) {
    const text = 'The vault does not take this key: it is wrong, expired or revoked.'
    lock({ text, isFault: true })
  } else if (logKeyInUse() === key && (isUnknown || refusal.missing !== undefined)) {
    holdLogKey(undefined)
    return { ...refusal, isOfLogKey: true }
  }
  return refusal
}

/**
 * Asks once. A key that the vault refuses is forgotten; the first one locks the console.
 * @param end aborts it: the answer then is that none came
 */
export async function ask<T>(question: Question, end?: AbortSignal): Promise<Told<T>> {
  const key = keyFor(question)
  if (key === undefined) return { refusal: { status: 401, text: 'The console is locked.' } }
  try {
    const response = await fetch(base() + question.path, initOf(question, key, end))
    const text = await response.text()
    if (response.ok) return { value: (text === '' ? undefined : parseExact(text)) as T }
    return { refusal: dropRefused(key, refusalOf(response.status, text)) }
  } catch {
    return { refusal: unreachable }
  }
}

/** @param query values; empty ones are left out */
export function withQueryOf(path: string, query: Readonly<Record<string, string | number>>) {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== '' || name === 'start') search.append(name, String(value))
  }
  const text = search.toString()
  return text === '' ? path : `${path}?${text}`
}

/** Steps of a path are no names (RFC 3986 section 5.2.4): they would lead elsewhere. */
export const canBeAsked = (id: string): boolean => !['', '.', '..'].includes(id)

export const pathTo = (path: string, id: string): string => `${path}/${encodeURIComponent(id)}`
