/**
 * The bounds of the store, with their units in their names: as `limits.ts` has all others.
 * @module
 */
import { bulkLeavesMax, dedupSeatsMax, walkedRowsMax } from '../../limits/limits.ts'

export const chunkOrdinals = 65_536
/** First bytes of digests: a fold goes through them one after the other. */
export const digestPrefixes = 256
export const chunkArrayEntriesMax = 4_095
/** decision: of a term in the tail; a bitmap of 8 KiB has more of them, and is no work to read. */
export const listedPlacesMax = 256
/** decision: uniques and terms of one row; with more of them a fold begins earlier. */
export const foldDigestsPerRow = 16
/** decision: moves of rows that are not folded; each costs a process that opens the store 1 µs. */
export const foldMovesMax = 10_000
/** decision: entries of an index in one step of a fold; each takes 2 to 3 µs. */
export const foldPutsWanted = 400
export const foldPutsMax = 1_500
/** decision: half of the digests of a row are shared: so the fold is faster than they come. */
export const foldPutsPerDigest = 1
/** decision: how many times as many rows, or digests, may stand before writes wait for the fold. */
export const foldLagMax = 2
/** decision: of steps that a write then waits for, within `commitMsMax` also on slow disks. */
export const foldStepsAheadMax = 100
/** decision: between two steps of a fold that nobody's write brings along. */
export const foldPauseMs = 10
/** decision: rows of one era; of more, new uniques would spread over more pages. */
export const eraOrdinals = 4_096
export const readersMax = 1_024
export const groupCommitChangesMax = 1_000
/** decision: of the rows of one transaction; their pages and those of indexes come on top. */
export const groupCommitBytesMax = 2 * 1024 * 1024
/**
 * The credential and two applications that must stand; of each token its row, who held its id, and
 * its seats; of an idempotency key its row and an expired holder; the keyring.
 */
export const writeChangesMax = 3 + (2 + dedupSeatsMax) * bulkLeavesMax + 2 + 1
/** decision: nearly every row and every chunk of ordinals is smaller. */
export const stagedBytesMax = 16 * 1024
export const ordinalMax = 2 ** 48 - 1
export const rowVersionMax = 2 ** 32 - 1
export const rowUniquesMax = 64
export const rowTermsMax = 512
export const rowPartsMax = 16
export const rowBytesMax = 2 * 1024 * 1024
/** decision: nearly every row is smaller, and read whole at once; of others the beginning is. */
export const glimpseBytes = 4 * 1024
/** decision: its header and the head of what is sealed are within them in every row. */
export const widerGlimpseBytes = 16 * 1024
export const windowRowsMax = 1_000
/** decision: the widest is a search, `searchNodesMax` twice, under `rulesMax` rules three times. */
export const queryNodesMax = 100_000
/** decision: two levels for each of `rulesMax` rules, and what a search may nest. */
export const queryDepthMax = 300
/** @alias */
export const queryOrdinalsMax = walkedRowsMax
/** decision: of chunks and queries; each takes 100 to 400 bytes. */
export const keptCountsMax = 20_000
/** decision: operators and terms of a query; wider ones are counted each time. */
export const countKeyPiecesMax = 12
/** Of one walk over the store. */
export const findingsMax = 10_000
/**
 * decision: of a file whose pages are all looked at before it is opened, which takes half a second
 * for so much where it is cached, and as long as a disk takes to read it where it is not. Those of
 * a larger one are looked at only after a server that was killed.
 */
export const pagesCheckedBytesMax = 1024 * 1024 * 1024
export const freeSpaceProbeMs = 1_000
/**
 * decision: what the store's file may grow by, taken from the disk before it is needed; when no
 * more can be had, so much must be left to add, and so much to remove.
 */
export const reserveBytesWanted = 16 * 1024 * 1024
export const reserveBytesToAddMin = 12 * 1024 * 1024
export const reserveBytesToRemoveMin = 4 * 1024 * 1024
/** decision: of entries in one transaction of a copy, which the engine keeps in memory. */
export const compactBatchBytes = 16 * 1024 * 1024
/**
 * A commit that takes longer will never end: the engine's writer is stuck (hardening L9). Of time
 * in which the event loop turned.
 */
export const commitMsMax = 5_000
/** How long a failed commit is asked for its cause. */
export const commitCauseMsMax = 100
/** How often a group is put, while the engine refuses its commit for the list of free pages. */
export const commitTriesMax = 3
/**
 * decision: free pages that the engine has in memory before it stops reading its list of them.
 * While it saves that list it reads more of it only below this, and may then refuse the commit, or
 * crash (docs/evidence/campaigns.md). By itself it is 50,000.
 */
export const freePagesLoaded = 2_000

// A database of others (PostgreSQL)
export const databaseConnectMsMax = 5_000
export const databaseIdleMs = 0
/** decision: connections for look-ups, for pages and for writes, apart: none waits for another. */
export const lookConnections = 2
export const pageConnections = 4
/** One more than lanes, for folds. */
export const writeConnections = 3
/** Of one vault, at most. */
export const vaultConnections = lookConnections + pageConnections + writeConnections
export const writeLanes = 2
/** decision: writes that wait for each lane that is busy, before another one begins. */
export const laneWritesMin = 8
/**
 * decision: from how many writes on a lane waits one turn of the loop for more, as long as more
 * come; and from when on it goes. Each takes two or three of `groupCommitChangesMax`.
 */
export const gatheredMin = 32
export const gatheredMax = 400
/** decision: of one statement's uniques; a row may have 2 MiB. */
export const lookUniquesMax = 64
/** decision: a read that no database answers for so long is refused; a failover may take longer. */
export const databaseReadMsMax = 5_000
/** decision: a failover of a frozen machine takes up to 27 s where its lease is 20 s. */
export const databaseWriteMsMax = 30_000
/** decision: one try of a group, before its connection counts as dead. */
export const databaseTryMsMax = 10_000
/**
 * decision: from when on the database ends a transaction of ours that says nothing: its machine may
 * be gone, and its locks stand in the way of others. Longer than a try.
 */
export const databaseAbandonedMs = 15_000
export const databaseRetryMsMin = 20
/** decision: between the first two looks at how far standbys are; then twice as long each time. */
export const replicatedLookMs = 1
export const databaseRetryMsMax = 500
/** decision: of the statement that reads the index of a query; with more, all recent rows come. */
export const pageTermsSentMax = 32
/** decision: rows that one transaction puts into chunks. */
export const foldRowsOfDatabase = 2_000
/** decision: fewer stay as they are; each costs every page. */
export const foldRowsMin = 500
export const foldLookMs = 200
/** decision: rows that wait for a fold, as they are told of: more than an alert asks for. */
export const waitingRowsCountedMax = 100_000
/** decision: who holds a lease renews it four times within it. */
export const leaseMs = 8_000
export const leaseRenewMs = 2_000
/** decision: how often the clock of the database is asked for, and by how much ours may be off. */
export const databaseClockMs = 1_000
export const clockSkewMsMax = 5_000
/** By how much two clocks may drift apart, per unit of time. Source: RFC 5905, MAXFREQ. */
export const clockDriftMax = 500e-6
/** In which clocks are told. */
export const clockStepMs = 1
/** decision: from when on a person is told of it who asks. */
export const clockSkewTellMs = 1_000
/** decision: from when on the receipt of a writer that is gone is removed. */
export const receiptHoursMax = 24
/** decision: rows of one step of a walk over a database. */
export const inspectRows = 1_000
/** decision: a walk over a billion rows ends within it. */
export const inspectMsMax = 24 * 60 * 60 * 1_000
export const databaseSetupMsMax = 60_000
/** decision: from when on a vault is not ready; a look comes each `databaseClockMs`. */
export const databaseSilentMsMax = 5_000
/** decision: how long a vault is not ready after its database had no space for a write. */
export const databaseFullMs = 10_000
/** decision: rows of one statement of a fill, and of one fold behind it. */
export const fillStepRows = 2_000
export const fillFoldRows = 16_000
export const fillMsMax = 10 * 60 * 1_000
/** decision: as long as a lease that nobody holds, and the time in which another vault takes it. */
export const leaveWatchMs = leaseMs + 2 * leaseRenewMs
export const leaveLookMs = 100
