/**
 * Model of the webhooks of one tenant: what it knows of events, and what each webhook still gets.
 *
 * Source: contract section 18 in `docs/interface.md`, the table of `docs/http.md`, and Standard
 * Webhooks 1.0.0. An instant that chance or concurrency decides is a range.
 * @module
 */

export const eventTypes = [
  'token.created',
  'token.updated',
  'token.deleted',
  'token.expired',
  'token.read',
  'token.revealed',
  'application.created',
  'application.updated',
  'application.deleted',
  'application.key.created',
  'application.key.deleted',
  'session.created',
  'session.authorized',
  'webhook.test',
] as const
export type EventType = (typeof eventTypes)[number]

interface Actor {
  readonly id: string
  readonly type: string
}

/** An event, in the order of the log. */
export interface ModelEvent {
  /** Place among all events of the run. */
  readonly order: number
  /** Place among those of its request. */
  readonly place: number
  readonly atMs: number
  readonly type: EventType
  readonly subject: string
  readonly id: string
  /** Application of a key. */
  readonly applicationId?: string
  readonly actor: Actor
  readonly traceId: string
  /** As the vault has told it; absent until then. */
  eventId?: string
  /** Ids of the webhooks whose receiver got it. */
  readonly arrivedAt: Set<string>
}

export interface Range {
  readonly minMs: number
  readonly maxMs: number
}

export const at = (ms: number): Range => ({ minMs: ms, maxMs: ms })
const always: Range = at(0)

/** An event on its way to a webhook. */
export interface ModelDelivery {
  readonly event: ModelEvent
  /** Attempts that failed: between these, both counted. */
  attempts: readonly [min: number, max: number]
  next: Range
  /** As the list may tell the failure of the last attempt. */
  failure: RegExp | undefined
  /** The same of the attempt before it. */
  failureBefore: RegExp | undefined
  /** True while the receiver holds its answer back. */
  isHeld: boolean
  /** True if it may have arrived, and that is not written down. */
  isLoose: boolean
  /** True if it was given up before: it has no place among those that follow it. */
  readonly isAgain: boolean
  /** True if an attempt was begun since all was last at rest. */
  isTried: boolean
}

export interface DeadDelivery {
  readonly event: ModelEvent
  readonly attempts: number
  readonly atMs: number
  readonly failure: RegExp
}

interface ModelSecret {
  readonly text: string
  readonly untilMs: number
}

/** An order that is done once the webhook is served. */
export type Order =
  | { readonly kind: 'replay'; readonly from: number }
  | { readonly kind: 'retry'; readonly sequence: number }
  | { readonly kind: 'resume' }

export interface ModelWebhook {
  readonly id: string
  name: string
  url: string
  events: readonly EventType[]
  notifyEmail: string | undefined
  status: 'enabled' | 'disabled'
  disabledBy: string | undefined
  /** Newest first. */
  secrets: readonly ModelSecret[]
  readonly createdBy: string
  readonly createdAtMs: number
  modified: { readonly by: string; readonly atMs: number } | undefined
  /** Order of the first event that it may get. */
  readonly from: number
  /** Order of the next event that is read for it. */
  cursor: number
  orders: Order[]
  deliveries: ModelDelivery[]
  dead: DeadDelivery[]
  /** The first failure since the last success; a last instant of Infinity: perhaps none. */
  failing: Range | undefined
  /** Until then its receiver wants nothing. */
  paused: Range
  /** Happenings since all was last at rest. */
  round: Round
}

interface Round {
  /** The first failure, as it was before. */
  failingMs: number
  hasFailed: boolean
  /** Deliveries that the receiver took. */
  succeeded: ModelDelivery[]
  isPausing: boolean
  /** Reasons for which the vault may have disabled it. */
  mayEnd: ReadonlySet<string>
  mustEnd: boolean
}

export const newRound = (failing: Range | undefined): Round => ({
  failingMs: failing?.minMs ?? Infinity,
  hasFailed: false,
  succeeded: [],
  isPausing: false,
  mayEnd: new Set(),
  mustEnd: false,
})

export interface Model {
  readonly tenantId: string
  nowMs: number
  readonly events: ModelEvent[]
  /** Newest last; by their ids. */
  readonly webhooks: Map<string, ModelWebhook>
  /** Ids of webhooks that were deleted. */
  readonly deleted: Set<string>
  readonly tokens: Set<string>
  readonly applications: Map<string, string[]>
  /** Texts of all secrets that were ever shown. */
  readonly secrets: Set<string>
  requests: number
  /** Number of events that the feed has told, and where it goes on. */
  fed: number
  feedAfter: number
}

export const emptyModel = (tenantId: string, nowMs: number): Model => ({
  tenantId,
  nowMs,
  events: [],
  webhooks: new Map(),
  deleted: new Set(),
  tokens: new Set(),
  applications: new Map(),
  secrets: new Set(),
  requests: 0,
  fed: 0,
  feedAfter: 0,
})

export const sequenceOf = ({ eventId }: ModelEvent): number | undefined =>
  eventId === undefined ? undefined : Number(eventId.split('_')[0])

export const newDelivery = (event: ModelEvent, isAgain = false): ModelDelivery => ({
  event,
  attempts: [0, 0],
  next: always,
  failure: undefined,
  failureBefore: undefined,
  isHeld: false,
  isLoose: false,
  isAgain,
  isTried: false,
})

/** Events of one thing have one order. */
export const isSameThing = (a: ModelEvent, b: ModelEvent): boolean =>
  a.subject === b.subject && a.id === b.id
