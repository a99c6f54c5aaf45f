/**
 * Bounds of the work inside a process: turns, caches, memory, batches. Callers and operators notice
 * them only as time and memory.
 *
 * As in `limits.ts`, each has a name and a unit, and names its source.
 * @module
 */

// Turns of the event loop
/**
 * decision: a body within this time came with its header: its caller's rights were read as shortly
 * before the work as for a request without a body.
 */
export const callerNowMs = 1
/**
 * decision: an answer that took this long is told only to a caller who may still have it. Below, it
 * is as if it had come before the change; a look at the rights of each read would double the
 * questions to a database.
 */
export const rightsAgainMs = 20
/** decision: interval of checks that the loop turns; longer gaps do not count. */
export const turningTickMs = 100
/** decision: interval of checks of requests in progress; less than `idleSecondsMax`. */
export const keepOpenEveryMs = 2_000
/** decision: operations that start in one turn of the event loop; each takes 0.1 ms. */
export const storeBeginsPerTurn = 64
/** decision: chunks of a body that are taken one by one in a turn of the event loop; 1 us each. */
export const bodyChunksPerTurn = 64
/** decision: characters parsed or printed in one turn; they take about 0.3 ms. */
export const jsonTurnChars = 8 * 1_024
/** decision: time for which one request may work before it yields to others. */
export const bulkTurnMsMax = 2
/** decision: time of all such pieces that begin in one turn of the event loop. */
export const loopWorkMsMax = 5
/** decision: pieces of one turn where more wait; a turn itself takes 0.1 ms and more. */
export const loopPiecesMax = 4
/** decision: a body from which on it is such a piece: 16 KiB may take 15 ms, a card 0.2 ms. */
export const briefBodyBytesMax = 1_024
/** decision: steps of one request before it yields to others; they take about 2 ms. */
export const turnStepsMax = 1_000_000
/**
 * decision: pause after a turn of long work while requests arrive, as a multiple of its time, with
 * its bounds.
 */
export const restPerTurn = 8
export const restMsMin = 1
export const restMsMax = 50
/**
 * decision: nodes of a question about tokens from which on it takes a turn: 4,000 take 3 ms for
 * each chunk of 65,536 rows.
 */
export const queryNodesPerTurn = 50
/** Rows read at once for testing. */
export const testStepRows = 100

// The audit log
/** decision: delay of an entry that no answer waits for. */
export const auditDelayMs = 100
/** decision: memory of the entries that wait while none can be written: some 60,000 short ones. */
export const auditWaitingBytesMax = 32 * 1024 * 1024
/** decision: memory of a waiting entry without its ids and its stated reason. */
export const auditEntryBytes = 512
/** decision: longer entries are hashed in memory of their own. */
export const leafScratchBytes = 8 * 1_024
/** decision: a bundle that may be longer is put together in memory of its own. */
export const bundleScratchBytes = 1024 * 1024
/** decision: entries of one bundle; a commit takes several. */
export const bundleEntriesMax = 1_024
/** decision: entries that are sealed at once, as one bundle: they take some 0.4 ms. */
export const bundleEntriesWanted = 48
/** decision: bytes of the texts of a bundle of several entries, at three a character. */
export const bundleTextBytesMax = 1024 * 1024
/** decision: interval at which new entries are signed: a checkpoint is at most 1 s behind. */
export const checkpointEveryMs = 600
/** decision: least time between two lines of the log with a checkpoint. */
export const checkpointTellMs = 60_000
/** decision: bundles that a walk over the log reads at once. */
export const readBundlesMax = 500
/** decision: bundles that one step of retention removes. */
export const pruneBundlesMax = 1_000
/** decision: interval at which whole slices of the log are indexed. */
export const indexEveryMs = 1_000
/** decision: interval at which old entries are looked for. */
export const pruneEveryMs = 60_000
/** decision: bundles that one checkpoint adds to the tree. */
export const checkpointBundlesMax = 2_000
/** decision: silence after which an entry says that there was nothing. */
export const clockEntryMs = 60_000
/** decision: time in which the refusals of one address without a live key share an entry. */
export const loginWindowMs = 10_000
/** decision: addresses with an entry of their own in that time; all others share one. */
export const loginAddressesMax = 1_000
/** As long as the longest id of a token, in UTF-16. */
export const entityIdCharsMax = 800

// Finding entries of the audit log
/** Two of a million values share a digest with a chance of one in 500. */
export const auditDigestBytes = 6
/**
 * decision: entries that are indexed together; nearly as many newest ones may be opened one by one,
 * which takes 10 to 30 ms where each was written alone.
 */
export const logSliceEntries = 1_024
/** decision: digests of a slice, which then has fewer entries; they are sorted in memory. */
export const logSliceTermsMax = 65_536
/** decision: entries whose digests lie together: a look-up asks once for each chunk of them. */
export const logChunkEntries = 65_536
/** decision: index values of one transaction, so that others wait for it no longer than needed. */
export const logIndexPutsMax = 500
/** decision: time for which indexing works before requests run: nobody waits for it. */
export const logIndexTurnMs = 1
/** decision: index values read at once. */
export const logIndexReadMax = 1_000
/** decision: bundles read at once. */
export const logBundlesRead = 32
/** decision: bundles read at once for their hashes alone; each may have a megabyte of entries. */
export const leafBundlesRead = 8
/** decision: entries that a request may open to find others; they take up to 0.4 s. */
export const logEntriesOpenedMax = 20_000
/** decision: bytes of the bundles that a request may open to find entries. */
export const logBytesOpenedMax = 16 * 1024 * 1024

// Caches
export const credentialCacheEntriesMax = 10_000
/** decision: bytes of cached credentials, as they are counted; the process takes twice as many. */
export const credentialCacheBytesMax = 64 * 1024 * 1024
/** decision: bytes of a session's row from which on opening it takes a turn: 1 MB takes 10 ms. */
export const longSessionBytes = 4 * 1024
/** decision: conditions of a session from which on each request takes a turn: 1,000 take 10 ms. */
export const conditionsPerTurn = 100
/** decision: pairs of rules from which on comparing two grants takes a turn: 10,000 take 3 ms. */
export const rulePairsPerTurn = 1_000
/** decision: age at which a cached credential is reread even if nothing reported a change. */
export const credentialCacheMsMax = 60_000
export const expressionCacheEntriesMax = 4_096
/** decision: the masks of types, and a few of each application. */
export const maskCacheEntriesMax = 256
export const cachedMaskCharsMax = 4_096
/** Masked text cached beside the record; longer text is evaluated at each read. */
export const keptMaskedCharsMax = 512

// Tables by texts
/**
 * decision: members of an object in an engine's hash table (keys may collide); more are ordered.
 */
export const hashedMembersMax = 32
/** decision: newest texts of a cache, checked before the ordered rest. */
export const hashedTextsMax = 64
/** decision: shorter texts go into the engine parser's table of all such texts. */
export const pooledCharsMax = 64
/** decision: entries of a text map that are moved to insert one. */
export const textRunMax = 128

// Memory of its own
/** decision: a larger input gets its own memory for each call. */
export const sealScratchBytes = 16 * 1_024
/**
 * decision: creating a view of scratch memory costs as much as the typical work on it, so views of
 * short pieces are kept.
 */
export const keptViewBytesMax = 1_024
/** decision: what the share of a row is made of has some 100 bytes. */
export const shareInputBytes = 256
/** decision: the memory that any row counts for at least; short rows are the most. */
export const rowStepBytesMin = 1_024
/** decision: values, keys and rows that share an allocation. */
export const sealSlabBytes = 64 * 1_024
export const keySlabBytes = 4 * 1_024
export const rowSlabBytes = 64 * 1_024
/** decision: clear header of a row with a few hundred terms; a longer one has its own buffer. */
export const headerScratchBytes = 4 * 1_024

// Rows
export const uniqueBytes = 32
export const sumBytes = 32
/** SHA-256 of an entry of the log. */
export const leafBytes = 32
export const termBytes = 16
/** Ordinals under which work counts that is of no credential: no row has them. */
export const pagesOrdinal = -1
/** The vault's own, and its operator's. */
export const ownOrdinal = 0
export const deadlineMsMax = 2 ** 48 - 1
/** Lengths, in characters, of the beginnings by which chosen ids are found. */
export const idPrefixChars: readonly number[] = [0, 4, 8, 12, 16, 24, 32]
/** decision: so many that, with 8 workers at one row, hardly any write loses every race. */
export const writeAttemptsMax = 200
/** decision: of those, the first ones in which holders of seats out of reach must stand. */
export const standingHolderAttemptsMax = 2

// Background work
/** decision: interval of storing which keys were used today. */
export const keyUsesWriteMs = 5_000
/** Applications with used keys not yet written. */
export const keyUsesNotedMax = 10_000
/** Applications per write. */
export const keyUsesPerWrite = 100
export const sweepIntervalMs = 1_000
/** decision: rows of one transaction; 200 blocked others for up to 140 ms (hardening H113). */
export const sweepBatchRows = 20
/**
 * decision: age at which a sweep, or a due row, is late, and others wait longer: 100,000 rows of
 * one second take 30 to 34 s on a slow disk (hardening H113), and all must leave in time.
 */
export const sweepLateMs = 35_000
export const sweepLateBatchRows = 50
/** decision: just before its 60 s are over while running; a row costs 2.9 pages, not 4.3. */
export const sweepOverdueMs = 50_000
export const sweepOverdueBatchRows = 400

// Requests of the vault to others
/** decision: addresses of one name that are tried before a request has failed. */
export const triedAddressesMax = 4
/** decision: connections that wait for the next request; many servers close theirs after 5 s. */
export const idleConnectionsMax = 64
export const idleConnectionSeconds = 8

// Deliveries of events
/** decision: interval at which the head of the log is looked at. */
export const deliverEveryMs = 100
/**
 * decision: time for which one webhook reads in the log before all look at its head again: one that
 * is far behind, as after a replay, would keep what is new from the others until it is not.
 */
export const catchUpMsMax = 200
/**
 * decision: deliveries under way, of one webhook, of one tenant and of all. With four, a receiver
 * that answers in 10 ms got 400 a second, and was seconds behind; three tenants cannot take all
 * turns, also by webhooks that take the place of others.
 */
export const deliveriesPerWebhookMax = 16
export const deliveriesPerTenantMax = 80
export const deliveriesMax = 256
/** decision: events that wait for their turn or their next attempt: then no more are read. */
export const waitingDeliveriesMax = 1_000
/** decision: events that are read ahead of those under way. */
export const readAheadMax = 128
/** decision: what was delivered is written down after so many deliveries, or that time. */
export const deliveriesPerSave = 100
export const deliveriesSaveMs = 250
/** decision: the same, where entries were passed over and nothing was delivered. */
export const passedSaveMs = 5_000
/** Waits between attempts. Source: Standard Webhooks 1.0.0, "Retry schedule". */
export const attemptWaitsMs: readonly number[] = [
  5_000,
  5 * 60_000,
  30 * 60_000,
  2 * 3_600_000,
  5 * 3_600_000,
  10 * 3_600_000,
  14 * 3_600_000,
  20 * 3_600_000,
  24 * 3_600_000,
]
/** decision: part by which a wait is longer or shorter, by chance. */
export const attemptJitter = 0.2
/** decision: events given up that a webhook still lists, and for how long. */
export const deadDeliveriesMax = 1_000
export const deadDeliveriesMs = 30 * 24 * 3_600_000
/** Source: Standard Webhooks 1.0.0, "Disabling": a webhook that has failed for days. */
export const failingWebhookMs = 5 * 24 * 3_600_000
/** decision: bundles of the log that are read at once for events. */
export const eventBundlesMax = 32
/** decision: bytes of bundles that one reader of events holds, unless a single one is longer. */
export const eventBundlesBytes = 128 * 1_024
/** decision: events from which on a reading for webhooks ends, with a whole bundle. */
export const eventsReadMax = 1_000
/** decision: bytes, drawn, of the mark behind which it is saved what was read of the log. */
export const logMarkBytes = 16
/** Bytes of the hash of an entry in the ids of its events. */
export const eventMarkBytes = 4
/** decision: rows of webhooks that are read at once. */
export const webhookRowsStep = 100
/** decision: interval at which the log is looked at for all who wait for events. */
export const feedLookMs = 100

// Keys of security codes
/** decision: codes that expire within it share a key, which expires at most that much later. */
export const codeKeySpanMs = 5_000
/** decision: cached keys of one tenant, and the time after which one is looked up again. */
export const codeKeyKeptMs = 5_000
export const codeKeysKeptMax = 1_024
/** decision: interval of overwriting their remains in the file, within the required 60 s. */
export const codeKeysScrubMs = 15_000
/** decision: pause after a search through the whole file, as a multiple of its time with rests. */
export const codeKeysScrubRest = 8
/** Removed keys per search, of all tenants: the rest is left to later writes. */
export const codeKeysLeftMax = 1_024
