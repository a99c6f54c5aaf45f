/**
 * Everything that the clients were promised, which they remember through all kills.
 * @module
 */
import type { Draw } from '../draw.ts'
import { takeAny } from '../draw.ts'
import { emptyRegister, type Register } from './register.ts'
import type { TokenType } from './values.ts'

export interface Token {
  readonly id: string
  readonly type: TokenType
  readonly register: Register
  /** Round of the acknowledged version, as in its metadata. */
  round: number
  /** Wall-clock instant from which nobody may see it. */
  expiresAtMs: number | undefined
  /** True while a writer has it, or if one had it when the server was killed. */
  isHeld: boolean
}

/** Its `data` and `metadata` have one member per writer; no other writer changes that member. */
export interface SharedToken {
  readonly id: string
  readonly writers: Map<string, Register>
}

/** A value that many clients create at once with deduplication; only one token may result. */
export interface EqualValue {
  readonly value: number
  readonly round: number
  /** Id of the token in the first answer. */
  id?: string
}

export interface Application {
  readonly id: string
  /** The version is the operation that gave the application its name. */
  readonly register: Register
  /** `undefined` if a regeneration got no answer and the old key is dead. */
  key: string | undefined
  readonly oldKeys: string[]
  /** True while a regeneration is begun and not answered. */
  isRekeying: boolean
  isHeld: boolean
}

export interface Session {
  readonly key: string
  readonly nonce: string
  /** Version 1 is authorized. */
  readonly register: Register
  expiresAtMs: number
}

/** A create under an idempotency key, answered or not, that is sent again later. */
export interface Replay {
  readonly op: number
  /** Id of the token, if an answer named it. */
  id?: string
}

export type BreachKind = 'lost' | 'half-applied' | 'ghost' | 'wrong answer'

interface Breach {
  readonly kind: BreachKind
  readonly what: string
}

export interface Ledger {
  nextOp: number
  /** Ends with a kill; the first round is 1. */
  round: number
  /** Last round in which everything was checked. */
  checkedRound: number
  /** Number of observations compared with the promises. */
  checked: number
  /** Number of answers to writes, by status. */
  readonly answered: Map<number, number>
  /** Number of acknowledged writes, by kind. */
  readonly acknowledged: Map<string, number>
  readonly breaches: Breach[]

  readonly tokens: Map<string, Token>
  /** Existing tokens that no client works on. */
  readonly live: Token[]
  /** Tokens with an expiry that no client works on. */
  readonly brief: Token[]
  /** Tokens that are gone, until their id is used again. */
  readonly gone: Token[]
  /** Tokens touched since the last check. */
  readonly touched: Set<Token>
  /** Tokens of one unanswered request: all of them were made, or none. */
  readonly groups: Set<readonly Token[]>
  /** Operations of unanswered creates that left the id to the vault. */
  readonly nameless: Set<number>

  readonly shared: SharedToken[]
  readonly equals: Map<number, EqualValue>
  readonly replays: Replay[]

  readonly applications: Map<string, Application>
  readonly freeApplications: Application[]
  readonly touchedApplications: Set<Application>
  readonly goneApplications: Application[]
  /** Names of applications whose create got no answer: these may exist. */
  readonly namelessApplications: Set<string>

  readonly sessions: Session[]
  readonly touchedSessions: Set<Session>
}

/** Ids contain the operation number, and ids have a minimum length. */
const firstOp = 100

export const openLedger = (): Ledger => ({
  nextOp: firstOp,
  round: 0,
  checkedRound: 0,
  checked: 0,
  answered: new Map(),
  acknowledged: new Map(),
  breaches: [],
  tokens: new Map(),
  live: [],
  brief: [],
  gone: [],
  touched: new Set(),
  groups: new Set(),
  nameless: new Set(),
  shared: [],
  equals: new Map(),
  replays: [],
  applications: new Map(),
  freeApplications: [],
  touchedApplications: new Set(),
  goneApplications: [],
  namelessApplications: new Set(),
  sessions: [],
  touchedSessions: new Set(),
})

export const takeOp = (ledger: Ledger): number => ledger.nextOp++

export function countAcknowledged(ledger: Ledger, kind: string, count = 1): void {
  ledger.acknowledged.set(kind, (ledger.acknowledged.get(kind) ?? 0) + count)
}

export function countAnswer({ answered }: Ledger, status: number): void {
  answered.set(status, (answered.get(status) ?? 0) + 1)
}

export const totalOf = (counts: ReadonlyMap<unknown, number>): number =>
  [...counts.values()].reduce((sum, count) => sum + count, 0)

export function report(ledger: Ledger, kind: BreachKind, what: string): void {
  ledger.breaches.push({ kind, what: `${kind} in round ${ledger.round}: ${what}` })
}

/** Adds a token that does not exist yet, held by its writer. */
export function addToken(ledger: Ledger, id: string, type: TokenType): Token {
  const { round } = ledger
  const register = emptyRegister()
  const token: Token = { id, type, register, round, expiresAtMs: undefined, isHeld: true }
  ledger.tokens.set(id, token)
  ledger.touched.add(token)
  return token
}

/** Takes an existing token for one writer alone. */
export function takeToken(ledger: Ledger, draw: Draw, from: Token[]): Token | undefined {
  const token = takeAny(draw, from)
  if (token === undefined) return undefined
  token.isHeld = true
  ledger.touched.add(token)
  return token
}

/** Puts a token of known state into the list that fits it. */
export function releaseToken(ledger: Ledger, token: Token): void {
  token.isHeld = false
  if (token.register.acknowledged === undefined) ledger.gone.push(token)
  else if (token.expiresAtMs === undefined) ledger.live.push(token)
  else ledger.brief.push(token)
}
