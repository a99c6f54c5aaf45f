/**
 * Fills a vault as `POST /tokens` would, without HTTP and in large groups.
 *
 * Requests, ids and times follow from the seed; nonces are random, as in every vault.
 * @module
 */
import { makeAuditLog } from '../../src/audit/audit-log.ts'
import { applicationAuthenticator } from '../../src/applications/find-key-caller.ts'
import { openDataFolder } from '../../src/server/folder/data-folder.ts'
import { randomBytes } from '../../src/server/process/system.ts'
import type { Deps } from '../../src/deps.ts'
import type { Caller } from '../../src/rules/caller.ts'
import { encodeRow } from '../../src/store/core/row-format.ts'
import { defaultSettings } from '../../src/settings/settings.ts'
import { ApiError } from '../../src/lib/errors.ts'
import { insertTokens } from '../../src/tokens/write/insert-tokens.ts'
import type { CreateTokenBody } from '../../src/tokens/schema.ts'
import { pendingTokenOf, type PendingToken } from '../../src/tokens/write/pending-token.ts'
import { tokenUnique } from '../../src/tokens/token-id.ts'
import { makeScheduler, makeWork } from '../../src/lib/work.ts'
import { cardTerms, requestsOf, type Mix } from './contents.ts'
import { openRandom, type Random } from './random.ts'

export interface FillOptions {
  readonly data: string
  readonly tokens: number
  readonly seed: number
  readonly mix: Mix
  /** Key of the application that creates them. */
  readonly key: string
  /** Called with the number of tokens written. */
  readonly onProgress: (tokens: number) => void
}

export interface Filled {
  /** Ids of cards, spread evenly over the whole. */
  readonly cardIds: readonly string[]
  /** A card as the store has it. */
  readonly cardRow: CardRow
}

interface CardRow {
  /** On average. */
  readonly bytes: number
  readonly uniques: number
  readonly terms: number
}

/** Each is one commit, which must end before the store's timeout, also on a busy machine. */
const groupTokens = 250
/** One group is composed while the one before is being written. */
const groupsAtOnce = 2
const cardIdsMax = 5_000
/** All tokens were made in the year before this instant. */
const endMs = Date.UTC(2026, 0, 1)
const spanMs = 365 * 24 * 60 * 60 * 1_000

type World = Omit<Deps, 'now'>

interface Group {
  readonly bodies: readonly CreateTokenBody[]
  /** Number of tokens before it. */
  readonly from: number
}

function* groupsOf({ mix, tokens }: FillOptions, random: Random): Generator<Group> {
  let bodies: CreateTokenBody[] = []
  let from = 0
  for (const body of requestsOf(mix, tokens, random)) {
    bodies.push(body)
    if (bodies.length < groupTokens) continue
    yield { bodies, from }
    from += bodies.length
    bodies = []
  }
  if (bodies.length > 0) yield { bodies, from }
}

/** @returns the ids of the cards among them */
async function insertGroup(
  world: World,
  caller: Caller,
  ids: Random,
  { bodies, from }: Group,
  tokens: number,
): Promise<readonly string[]> {
  const createdAtMs = endMs - spanMs + Math.floor((from / tokens) * spanMs)
  const deps: Deps = { ...world, now: () => createdAtMs }
  const composing: Deps = { ...deps, randomBytes: ids.bytes }
  const pending: PendingToken[] = []
  for (const body of bodies) {
    pending.push(
      await pendingTokenOf(composing, caller.tenantId, body, makeWork(deps, caller, Infinity)),
    )
  }
  const outcomes = await insertTokens(deps, caller, pending, { isWhole: true })
  return bodies.flatMap((body, index) => {
    const outcome = outcomes[index]
    if (outcome instanceof ApiError) throw outcome
    return body.type === 'card' && outcome !== undefined ? [outcome.id] : []
  })
}

async function insertAll(world: World, caller: Caller, options: FillOptions): Promise<string[]> {
  const { tokens, seed, onProgress } = options
  const ids = openRandom(seed + 1)
  const cardIds: string[] = []
  const keptOfGroup = Math.ceil((cardIdsMax * groupTokens) / tokens)
  let done = 0
  const groups = groupsOf(options, openRandom(seed))
  const work = async (): Promise<void> => {
    for (const group of groups) {
      const cards = await insertGroup(world, caller, ids, group, tokens)
      cardIds.push(...cards.slice(0, keptOfGroup))
      done += group.bodies.length
      onProgress(done)
    }
  }
  await Promise.all(Array.from({ length: groupsAtOnce }, work))
  return cardIds
}

/** @throws when a card has fewer or more terms than the figures state */
async function measureCards(
  { store, keys }: World,
  { tenantId }: Caller,
  ids: readonly string[],
): Promise<CardRow> {
  const sums = { bytes: 0, uniques: 0 }
  for (const id of ids) {
    const row = await store.find(tokenUnique(keys, tenantId, id))
    if (row === undefined) throw new Error('a card that was written is not there')
    if (row.terms.length !== cardTerms) throw new Error(`a card has ${row.terms.length} terms`)
    sums.bytes += encodeRow(row).length
    sums.uniques += row.uniques.length
  }
  const { length } = ids
  return {
    bytes: Math.round(sums.bytes / length),
    uniques: sums.uniques / length,
    terms: cardTerms,
  }
}

/** The engine may hang on any orderly end (hardening L10). */
function giveUp(): void {
  console.error('seed: the store could not commit in time: remove the folder, and try again')
  process.kill(process.pid, 'SIGKILL')
}

/** Writes them all. The vault must not be served meanwhile. */
export async function fillVault(options: FillOptions): Promise<Filled> {
  const { store, keys } = await openDataFolder(options, { onFailure: giveUp })
  const world: World = {
    store,
    keys,
    settled: () => 0,
    elapsedMs: () => 0,
    turns: makeScheduler(() => 0),
    randomBytes,
    log: () => {},
    audit: makeAuditLog({ store, keys, randomBytes, now: () => 0, log: () => {} }),
    settings: defaultSettings,
  }
  try {
    const found = await applicationAuthenticator({ store, keys, now: () => 0 })(options.key, 0)
    if (found === undefined) throw new Error('the key of the vault is not known in it')
    const cardIds = await insertAll(world, found.value, options)
    return { cardIds, cardRow: await measureCards(world, found.value, cardIds.slice(0, 100)) }
  } finally {
    await store.close()
  }
}
