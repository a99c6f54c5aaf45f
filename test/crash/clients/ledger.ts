/**
 * Everything that the clients were promised, kept by them through all kills.
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
  /** Of the acknowledged version, as its metadata has it. */
  round: number
  /** From this instant of the wall clock on nobody may see it. */
  expiresAtMs: number | undefined
  /** A writer has it, or had it when the server was killed. */
  isHeld: boolean
}

/** Its `data` and `metadata` have a member for each writer, who alone changes it. */
export interface SharedToken {
  readonly id: string
  readonly writers: Map<string, Register>
}

/** A value that many create at once with deduplication on; there must be one token of it. */
export interface EqualValue {
  readonly value: number
  readonly round: number
  /** Of the token that the first answer named. */
  id?: string
}

export interface Application {
  readonly id: string
  /** Its name holds the operation that gave it. */
  readonly register: Register
  /** `undefined` once a regeneration had no answer and the old key is dead. */
  key: string | undefined
  readonly oldKeys: string[]
  /** A regeneration began and was not answered. */
  isRekeying: boolean
  isHeld: boolean
}

export interface Session {
  readonly key: string
  readonly nonce: string
  /** 1 is authorized. */
  readonly register: Register
  expiresAtMs: number
}

/** A create under an idempotency key, answered or not, to be sent again. */
export interface Replay {
  readonly op: number
  /** Of the token that an answer named. */
  id?: string
}

export type BreachKind = 'lost' | 'half-applied' | 'ghost' | 'wrong answer'

interface Breach {
  readonly kind: BreachKind
  readonly what: string
}

export interface Ledger {
  nextOp: number
  /** Ends with a kill; the first one is 1. */
  round: number
  /** The last round of which everything was checked. */
  checkedRound: number
  /** Observations that were compared with what was promised. */
  checked: number
  /** Answers to writes by their status. */
  readonly answered: Map<number, number>
  /** Acknowledged writes by what they did. */
  readonly acknowledged: Map<string, number>
  readonly breaches: Breach[]

  readonly tokens: Map<string, Token>
  /** Stand, and nobody works on them. */
  readonly live: Token[]
  /** Have an end, and nobody works on them. */
  readonly brief: Token[]
  /** Are gone for ever, or until their id is used once more. */
  readonly gone: Token[]
  /** Since the last check. */
  readonly touched: Set<Token>
  /** Tokens of one request that had no answer: all of them were made, or none. */
  readonly groups: Set<readonly Token[]>
  /** Creates without an id that had no answer: their operations. */
  readonly nameless: Set<number>

  readonly shared: SharedToken[]
  readonly equals: Map<number, EqualValue>
  readonly replays: Replay[]

  readonly applications: Map<string, Application>
  readonly freeApplications: Application[]
  readonly touchedApplications: Set<Application>
  readonly goneApplications: Application[]
  /** Creates that had no answer: the names that may exist. */
  readonly namelessApplications: Set<string>

  readonly sessions: Session[]
  readonly touchedSessions: Set<Session>
}

/** Ids are made of operations, and may not be too short. */
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

/** A token that is not yet there, in the hands of its writer. */
export function addToken(ledger: Ledger, id: string, type: TokenType): Token {
  const { round } = ledger
  const register = emptyRegister()
  const token: Token = { id, type, register, round, expiresAtMs: undefined, isHeld: true }
  ledger.tokens.set(id, token)
  ledger.touched.add(token)
  return token
}

/** Takes a token that stands, for one writer alone. */
export function takeToken(ledger: Ledger, draw: Draw, from: Token[]): Token | undefined {
  const token = takeAny(draw, from)
  if (token === undefined) return undefined
  token.isHeld = true
  ledger.touched.add(token)
  return token
}

/** Where a token belongs whose state is known. */
export function releaseToken(ledger: Ledger, token: Token): void {
  token.isHeld = false
  if (token.register.acknowledged === undefined) ledger.gone.push(token)
  else if (token.expiresAtMs === undefined) ledger.live.push(token)
  else ledger.brief.push(token)
}
