/**
 * Tokens that one attempt will write: each is decided by what is stored and by those before it.
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import { TextMap } from '../../lib/maps.ts'
import type { Requirement } from '../../records/read-row.ts'
import { visibleTokensOf, type VisibleTokens } from '../find/visibility.ts'
import type { PendingToken, SealedToken } from './pending-token.ts'

export interface Batch {
  /** Tokens that get a row of their own. */
  readonly tokens: PendingToken[]
  /** Ids that callers chose; drawn ones never collide within a batch. */
  readonly ids: TextMap<true>
  /** The first of each content, which stands for later ones. */
  readonly firstByFingerprint: Map<string, SealedToken>
  /**
   * By fingerprint: ordinal of the equal token in reach that is stored, or null. A look takes long
   * if it tests which of many equal tokens are in reach, so each content is looked for once.
   */
  readonly stored: Map<string, number | null>
  /** Conditions on other rows, which are part of the same write. */
  readonly changes: Requirement[]
  /** Counts the attempts to write it, from 1. */
  readonly attempt: number
  /** True if an equal token came up after it was looked for: then all is decided anew. */
  isLate: boolean
  /** Tokens that the caller may see; computed on first use. */
  readonly reach: () => VisibleTokens
}

export function makeBatch(deps: Deps, caller: Caller, attempt: number): Batch {
  let reach: VisibleTokens | undefined
  return {
    tokens: [],
    ids: new TextMap(),
    firstByFingerprint: new Map(),
    stored: new Map(),
    changes: [],
    attempt,
    isLate: false,
    reach: () => (reach ??= visibleTokensOf(deps, caller)),
  }
}

/** Adds a token, so that those after it are decided by it too. */
export function addToBatch(
  batch: Batch,
  token: PendingToken,
  sealed: SealedToken,
  changes: readonly Requirement[],
): void {
  const { id, idIsRandom, fingerprint } = sealed.record
  batch.tokens.push(token)
  batch.changes.push(...changes)
  if (idIsRandom !== true) batch.ids.set(id, true)
  if (!batch.firstByFingerprint.has(fingerprint)) batch.firstByFingerprint.set(fingerprint, sealed)
}
