/**
 * Events: what an entry of the audit log means to those who follow a tenant from outside.
 *
 * An event names one thing by its id, and nothing that is known of it. Refusals are no events,
 * unless they tell of plaintext, and neither is an answer that repeats an earlier effect.
 * @module
 */
import type { AuditEntry } from '../audit/entry.ts'

/** Names as published clients know them (docs/compatibility.md), and `token.revealed`. */
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
export type VaultEventType = (typeof eventTypes)[number]

type Subject = 'token' | 'application' | 'application_key' | 'session' | 'webhook'

/** One event, numbered by its entry and its place among the events of that entry. */
export interface VaultEvent {
  readonly sequence: number
  readonly place: number
  readonly type: VaultEventType
  readonly subject: Subject
  /** Id of the thing. */
  readonly id: string
  /** Beginning of the hash of its entry: in another history another event has its place. */
  readonly mark: string
  readonly entry: AuditEntry
}

interface Meaning {
  readonly type: VaultEventType
  readonly subject: Subject
}

const meanings: Readonly<Record<string, Meaning>> = {
  createToken: { type: 'token.created', subject: 'token' },
  tokenize: { type: 'token.created', subject: 'token' },
  updateToken: { type: 'token.updated', subject: 'token' },
  deleteToken: { type: 'token.deleted', subject: 'token' },
  tokenExpired: { type: 'token.expired', subject: 'token' },
  createApplication: { type: 'application.created', subject: 'application' },
  updateApplication: { type: 'application.updated', subject: 'application' },
  deleteApplication: { type: 'application.deleted', subject: 'application' },
  regenerateKey: { type: 'application.key.created', subject: 'application_key' },
  createApplicationKey: { type: 'application.key.created', subject: 'application_key' },
  deleteApplicationKey: { type: 'application.key.deleted', subject: 'application_key' },
  createSession: { type: 'session.created', subject: 'session' },
  authorizeSession: { type: 'session.authorized', subject: 'session' },
  testWebhook: { type: 'webhook.test', subject: 'webhook' },
}

const readings: ReadonlySet<string> = new Set([
  'getToken',
  'listTokens',
  'listTokensByCursor',
  'searchTokens',
  'searchTokensByCursor',
  'detokenize',
])

function meaningOf({ operation, transform }: AuditEntry): Meaning | undefined {
  if (!readings.has(operation)) return meanings[operation]
  return { type: transform === 'reveal' ? 'token.revealed' : 'token.read', subject: 'token' }
}

/** A refusal that told of plaintext is a read of it. */
const meaningOfRefusal = ({ transform }: AuditEntry): Meaning | undefined =>
  transform === 'reveal' ? { type: 'token.revealed', subject: 'token' } : undefined

/** Returns the ids of the things. An entry about a key names its application first. */
const idsOf = ({ entityIds }: AuditEntry, { subject }: Meaning): readonly string[] =>
  subject === 'application_key' ? entityIds.slice(1) : entityIds

/**
 * Returns the events of an entry: one for each id; none for an entry of the installation.
 * @param mark as in `VaultEvent`
 */
export function eventsOf(sequence: number, entry: AuditEntry, mark: string): readonly VaultEvent[] {
  const { tenantId, reason, result } = entry
  if (tenantId === undefined) return []
  const isRefused = reason !== undefined || result >= 300
  const meaning = isRefused ? meaningOfRefusal(entry) : meaningOf(entry)
  if (meaning === undefined) return []
  return idsOf(entry, meaning).map((id, place) => ({
    ...meaning,
    sequence,
    place,
    id,
    mark,
    entry,
  }))
}

/**
 * Returns the id of an event, which ends the id of each message that carries it. A restored vault
 * gives out its sequences again, and receivers skip ids that they know: so the mark is in the id.
 */
export const eventId = ({
  sequence,
  place,
  mark,
}: Pick<VaultEvent, 'sequence' | 'place' | 'mark'>): string => `${sequence}_${place}_${mark}`

/** Returns a name of the thing: its events are delivered in their order. */
export const thingOf = ({ subject, id }: VaultEvent): string => `${subject} ${id}`
