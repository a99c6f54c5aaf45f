/**
 * Fills the audit log of a vault that is not served, with entries as its requests would make them,
 * and indexes it: by the functions of the server, without HTTP.
 * @module
 */
import { sealBundle } from '../../src/audit/bundle.ts'
import type { AuditEntry } from '../../src/audit/entry.ts'
import { entriesFrom } from '../../src/audit/read-log.ts'
import { indexNext } from '../../src/audit/search-index.ts'
import { uuidText } from '../../src/lib/bytes.ts'
import { findFolder, openStoreOf, unsealKeysOf } from '../../src/server/folder/data-folder.ts'
import { elapsedMs, randomBytes } from '../../src/server/process/system.ts'
import type { OperatedStore } from '../../src/store/operated.ts'
import type { Random } from '../seed/random.ts'

/** Entries that a commit brings: as of that many callers at once. */
const bundleMax = 64
/** Bundles of one write, so that a fill is not a test of the disk. */
const writeBundles = 200
const entriesPerToken = 20
/** One entry of so many is about the same token. */
const hotEvery = 100
const entryEveryMs = 10
const actors = 20

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** The same id for the same number. */
const idOf = (kind: string, i: number): string => {
  const digest = Buffer.from(Bun.SHA256.hash(`${kind} ${i}`).buffer)
  return uuidText(digest.toString('hex', 0, 16))
}

export const hotToken = idOf('token', 0)
export const tokenOf = (random: Random, entries: number): string =>
  idOf('token', 1 + random.integer(Math.max(1, Math.floor(entries / entriesPerToken))))
export const actorOf = (random: Random): string => idOf('actor', random.integer(actors))

interface Kind {
  readonly operation: string
  readonly transform: AuditEntry['transform']
}

const masks: Kind = { operation: 'getToken', transform: 'mask' }
const reveals: Kind = { operation: 'getToken', transform: 'reveal' }
const creates: Kind = { operation: 'createToken', transform: undefined }
const several: Kind = { operation: 'detokenize', transform: 'reveal' }
/** As often as they are here. */
const kinds = [masks, masks, masks, masks, masks, masks, masks, reveals, creates, several] as const

function drawEntry(random: Random, entries: number, tenantId: string, atMs: number): AuditEntry {
  const { operation, transform } = random.pick(kinds)
  const isHot = random.integer(hotEvery) === 0
  const ids = Array.from({ length: operation === 'detokenize' ? 3 : 1 }, () =>
    tokenOf(random, entries),
  )
  const actorId = actorOf(random)
  return {
    atMs,
    tenantId,
    actorId,
    actorType: 'private',
    keyId: actorId,
    operation,
    entityType: 'token',
    entityIds: isHot ? [hotToken] : ids,
    transform,
    rule: 'rule 0',
    result: operation === 'createToken' ? 201 : 200,
    traceId: hex(random.bytes(8)),
    from: `192.0.2.${random.integer(256)}`,
  }
}

async function tenantOf(log: Parameters<typeof entriesFrom>[0]): Promise<string> {
  for await (const { entry } of entriesFrom(log, 0)) {
    if (entry.tenantId !== undefined) return entry.tenantId
  }
  throw new Error('a log with an entry of a tenant')
}

export interface LogFilling {
  readonly data: string
  readonly entries: number
  readonly random: Random
  /** Unix milliseconds of the newest entry. */
  readonly lastMs: number
  readonly say: (line: string) => void
}

type Opened = { readonly store: OperatedStore } & Parameters<typeof entriesFrom>[0] &
  Parameters<typeof indexNext>[0]

async function append(log: Opened, { entries, random, lastMs, say }: LogFilling): Promise<void> {
  const tenantId = await tenantOf(log)
  for (let made = 0, told = 0; made < entries;) {
    const bundles = []
    while (bundles.length < writeBundles && made < entries) {
      const count = Math.min(1 + random.integer(bundleMax), entries - made)
      const first = lastMs - (entries - made) * entryEveryMs
      const drawn = Array.from({ length: count }, (_, i) =>
        drawEntry(random, entries, tenantId, first + i * entryEveryMs),
      )
      bundles.push({ log: sealBundle(log.keys, randomBytes, drawn) })
      made += count
    }
    await log.store.write(bundles)
    if (made - told < entries / 10 && made < entries) continue
    told = made
    say(`${made} entries written`)
  }
}

/** @returns bytes of the log and its index on the disk, for an entry */
export async function fillLog(filling: LogFilling): Promise<number> {
  const folder = findFolder({ data: filling.data })
  const { store } = await openStoreOf(folder, {
    onFailure: cause => {
      throw cause
    },
  })
  const keys = await unsealKeysOf(store, folder)
  const log = { store, keys, elapsedMs, randomBytes }
  try {
    const before = (await store.figures()).logBytes
    await append(log, filling)
    for (let slices = 0; await indexNext(log); slices += 1) {
      if (slices % 1_000 === 999) filling.say(`${slices + 1} slices indexed`)
    }
    return ((await store.figures()).logBytes - before) / filling.entries
  } finally {
    keys.wipe()
    await store.close()
  }
}
