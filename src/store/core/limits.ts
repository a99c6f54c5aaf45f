/**
 * Bounds of the store, with units in their names; all other bounds are in `limits.ts`.
 * @module
 */
import { bulkLeavesMax, dedupSeatsMax, walkedRowsMax } from '../../limits/limits.ts'

export const chunkOrdinals = 65_536
/** First bytes of digests: a fold processes them in order. */
export const digestPrefixes = 256
export const chunkArrayEntriesMax = 4_095
/** decision: longest list of places of a term in the tail; beyond it, an 8 KiB bitmap is cheap. */
export const listedPlacesMax = 256
/** decision: average uniques and terms per row above which a fold begins earlier. */
export const foldDigestsPerRow = 16
/** decision: moves of unfolded rows; each adds 1 µs when a process opens the store. */
export const foldMovesMax = 10_000
/** decision: index entries in one step of a fold; each takes 2 to 3 µs. */
export const foldPutsWanted = 400
export const foldPutsMax = 1_500
/** decision: half of a row's digests are shared, so the fold outruns the writes. */
export const foldPutsPerDigest = 1
/** decision: multiple of the fold's rows or digests that may wait before writes must wait too. */
export const foldLagMax = 2
/** decision: fold steps that a write then waits for, each a commit of its own. */
export const foldStepsAheadMax = 100
/** decision: pause between fold steps while no writes arrive to carry them. */
export const foldPauseMs = 10
/** decision: rows of one era; with more, new uniques would spread over more pages. */
export const eraOrdinals = 4_096
export const readersMax = 1_024
/** decision: commits between two looks for readers that died, each of which may keep pages. */
export const readerLookCommits = 250
export const groupCommitChangesMax = 1_000
/** decision: row bytes of one transaction; pages of rows and indexes come on top. */
export const groupCommitBytesMax = 2 * 1024 * 1024
/**
 * The credential and two applications, as requirements; per token its row and its seats; per
 * idempotency key its row and an expired holder; the keyring; the log.
 */
export const writeChangesMax = 3 + (1 + dedupSeatsMax) * bulkLeavesMax + 2 + 1 + 1
/** An entry with the longest ids, and as many as a bulk operation has. */
export const bundleBytesMax = 4 * 1024 * 1024
/** decision: bytes of bundles that are read at once; the first one is read whatever its length. */
export const readBundleBytesMax = 2 * 1024 * 1024
export const derivedKeyBytesMax = 32
/** decision: larger than nearly every row and chunk of ordinals. */
export const stagedBytesMax = 16 * 1024
export const ordinalMax = 2 ** 48 - 1
/** decision: no vault counts as far in a database, and as many again remain in its new place. */
export const movedOrdinalMax = 2 ** 47
export const rowVersionMax = 2 ** 32 - 1
export const rowUniquesMax = 64
export const rowTermsMax = 512
export const rowPartsMax = 16
export const rowBytesMax = 2 * 1024 * 1024
/** decision: nearly every row is smaller and read whole; of others, only the start is read. */
export const glimpseBytes = 4 * 1024
/** decision: every row's header and the head of its sealed part fit within it. */
export const widerGlimpseBytes = 16 * 1024
export const windowRowsMax = 1_000
/**
 * decision: a search is the largest: `searchNodesMax` twice, under `rulesMax` rules three times.
 */
export const queryNodesMax = 100_000
/** decision: two levels for each of `rulesMax` rules, plus the nesting of a search. */
export const queryDepthMax = 300
/** @alias */
export const queryOrdinalsMax = walkedRowsMax
/** decision: cached counts of chunks and queries; each takes 100 to 400 bytes. */
export const keptCountsMax = 20_000
/** decision: operators and terms of a query whose counts are cached; larger ones are recounted. */
export const countKeyPiecesMax = 12
/** Findings of one walk over the store. */
export const findingsMax = 10_000
/**
 * decision: largest file whose pages are all checked before it is opened; that takes half a second
 * if the file is cached, or as long as the disk takes to read it. Larger files are checked only
 * after a server was killed.
 */
export const pagesCheckedBytesMax = 1024 * 1024 * 1024
export const freeSpaceProbeMs = 1_000
/**
 * decision: room for growth of the store's file, taken from the disk in advance; if no more can be
 * had, this much must be left to add, and this much to remove.
 */
export const reserveBytesWanted = 16 * 1024 * 1024
export const reserveBytesToAddMin = 12 * 1024 * 1024
export const reserveBytesToRemoveMin = 4 * 1024 * 1024
/** decision: bytes of entries in one transaction of a copy, which the engine keeps in memory. */
export const compactBatchBytes = 16 * 1024 * 1024
/**
 * A commit that takes longer is taken for one that will never end: after a write that failed the
 * engine's writer may be stuck (hardening L9). Counts only time in which the event loop turned.
 */
export const commitMsMax = 5_000
/** Time allowed for learning the cause of a failed commit. */
export const commitCauseMsMax = 100
/** Tries of one group while the engine refuses its commit because of its list of free pages. */
export const commitTriesMax = 3
/**
 * decision: free pages that the engine loads before it stops reading its list of them. While it
 * saves that list it reads on only below this number, and may then refuse the commit or crash
 * (docs/evidence/campaigns.md). The engine's default is 50,000.
 */
export const freePagesLoaded = 2_000

// An external database (PostgreSQL)
export const databaseConnectMsMax = 5_000
export const databaseIdleMs = 0
/** decision: look-ups, pages and writes have connections of their own: none waits for another. */
export const lookupConnections = 2
export const pageConnections = 4
/** One for each writer, and one for folds. */
export const writeConnections = 3
/** Most connections of one vault. */
export const vaultConnections = lookupConnections + pageConnections + writeConnections
export const writersPerVault = 2
/** decision: writes waiting for each busy writer before another writer starts. */
export const writesPerWriterMin = 8
/**
 * decision: waiting writes from which a writer waits a turn of the loop for more, while more
 * arrive; and at which it starts at once. Each takes two or three of `groupCommitChangesMax`.
 */
export const gatheredMin = 32
export const gatheredMax = 400
/** decision: uniques of one statement; a row may have 2 MiB. */
export const lookupUniquesMax = 64
/** decision: bytes of long rows in one statement, behind which short ones may wait. */
export const longLookupBytesMax = 1024 * 1024
/** decision: a read unanswered for this long is refused, though a failover may take longer. */
export const databaseReadMsMax = 5_000
/** decision: failover from a frozen machine takes up to 27 s with a lease of 20 s. */
export const databaseWriteMsMax = 30_000
/** decision: one try of a group, after which its connection counts as dead. */
export const databaseTryMsMax = 10_000
/**
 * decision: time after which the database ends an idle transaction: its machine may be gone while
 * its locks block others. Longer than a try.
 */
export const databaseAbandonedMs = 15_000
export const databaseRetryMsMin = 20
/** decision: delay between the first two checks of standby progress; doubled each time. */
export const standbyCheckMsMin = 1
export const databaseRetryMsMax = 500
/** decision: terms that an index-reading statement sends; with more, all recent rows are read. */
export const pageTermsSentMax = 32
/** decision: expired rows or their instants, read for a page, from which on they are kept. */
export const expiredKeptMin = 500
/** decision: time within which a commit that was decided before a deadline lands. */
export const unsettledMs = 1_000
/** decision: the same where vaults on several machines write, whose clocks may differ. */
export const databaseUnsettledMs = 5_000
/** decision: time after which all expired rows are read anew, as long as a sweep may take. */
export const expiredKeptMs = 60_000
/** decision: rows that one transaction puts into chunks. */
export const foldRowsOfDatabase = 2_000
/** decision: unfolded rows at which a fold starts; each of them slows every page. */
export const foldRowsMin = 500
export const foldCheckMs = 200
/** decision: cap on the count of rows waiting for a fold; above any alert's threshold. */
export const waitingRowsCountedMax = 100_000
/** decision: newest bundles whose size stands for all: a table keeps the room of what is gone. */
export const sampledBundlesMax = 200
/** decision: the holder of a lease renews it four times per period. */
export const leaseMs = 8_000
export const leaseRenewMs = 2_000
/** decision: interval of reading the database clock, and the largest tolerated skew of our own. */
export const databaseClockMs = 1_000
export const clockSkewMsMax = 5_000
/** Largest drift between two clocks, per unit of time. Source: RFC 5905, MAXFREQ. */
export const clockDriftMax = 500e-6
/** Resolution of reported clocks. */
export const clockStepMs = 1
/** decision: skew from which the operator's check reports it. */
export const clockSkewTellMs = 1_000
/** decision: age at which a receipt of a vanished writer is removed. */
export const receiptHoursMax = 24
/** decision: parts of the sum over all rows that a new writer takes over from ended ones. */
export const takenPartsMax = 200
/** decision: rows of one step of a walk over a database. */
export const inspectRows = 1_000
/** decision: bundles of a log, or values beside it, of one step of a walk; few are large. */
export const logStep = 100
/** decision: enough for a walk over a billion rows. */
export const inspectMsMax = 24 * 60 * 60 * 1_000
export const databaseSetupMsMax = 60_000
/** decision: silence after which a vault is not ready; checked every `databaseClockMs`. */
export const databaseSilentMsMax = 5_000
/** decision: time a vault stays not ready after its database had no space for a write. */
export const databaseFullMs = 10_000
/** decision: rows of one statement of a bulk load, and of one fold behind it. */
export const bulkStepRows = 2_000
export const bulkFoldRows = 16_000
export const bulkMsMax = 10 * 60 * 1_000
/** decision: expiry of a lease that nobody holds, plus the time for another vault to take it. */
export const moveOutWatchMs = leaseMs + 2 * leaseRenewMs
export const moveOutCheckMs = 100
