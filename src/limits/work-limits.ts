/**
 * Bounds of the work inside a process: turns, caches, memory, batches. Callers and operators meet
 * them as time and room alone.
 *
 * As in `limits.ts`, each has a name and a unit, and says where it is from.
 * @module
 */

// Turns of the event loop
/**
 * decision: a body that came within this time came with its header: what its caller may do was read
 * as shortly before its work as that of a request without a body.
 */
export const callerNowMs = 1
/** decision: how often it is looked whether turns come; what one takes beyond does not count. */
export const turningTickMs = 100
/** decision: how often requests under way are looked at; less than `idleSecondsMax`. */
export const keepOpenEveryMs = 2_000
/** decision: of those that begin in one turn of the event loop, each of which takes 0.1 ms. */
export const storeBeginsPerTurn = 64
/** decision: characters that are parsed or printed in one turn; they take about 0.3 ms. */
export const jsonTurnChars = 8 * 1_024
/** decision: so long may one request work before others have their turn. */
export const bulkTurnMsMax = 2
/** decision: of one request, from which on others have their turn; they take about 2 ms. */
export const turnStepsMax = 1_000_000
/**
 * decision: while requests come, what a turn of long work is followed by, in times of its length,
 * and within which bounds.
 */
export const restPerTurn = 8
export const restMsMin = 1
export const restMsMax = 50
/** Rows that are read at once to be tested. */
export const testStepRows = 100

// Caches
export const credentialCacheEntriesMax = 10_000
/** decision: how long a credential is not read anew, should nothing tell that it has changed. */
export const credentialCacheMsMax = 60_000
export const expressionCacheEntriesMax = 4_096
/** decision: the masks of types, and a few of each application. */
export const maskCacheEntriesMax = 256
export const cachedMaskCharsMax = 4_096
/** Of what a mask shows, to be kept beside the record: what is longer is evaluated at each read. */
export const keptMaskedCharsMax = 512

// Tables by texts
/** decision: of one object in a table of the engine, which collides at worst; more are ordered. */
export const hashedMembersMax = 32
/** decision: of a cache, looked at before the others, which are ordered. */
export const hashedTextsMax = 64
/** decision: what is shorter the engine's parser keeps in a table of all such texts. */
export const pooledCharsMax = 64
/** decision: places of a map by texts that are moved for one more. */
export const textRunMax = 128

// Memory of its own
/** decision: what is longer gets memory of its own for each call. */
export const sealScratchBytes = 16 * 1_024
/**
 * decision: a view of scratch memory costs as much as what is mostly done by it, so those of short
 * pieces are kept.
 */
export const keptViewBytesMax = 1_024
/** decision: of values, keys and rows that share an allocation. */
export const sealSlabBytes = 64 * 1_024
export const keySlabBytes = 4 * 1_024
export const rowSlabBytes = 64 * 1_024
/** decision: of the clear header of a row with few hundred terms; a longer one has its own room. */
export const headerScratchBytes = 4 * 1_024

// Rows
export const uniqueBytes = 32
export const termBytes = 16
/** Where pages count, which need no key, among the ordinals of credentials: no row has it. */
export const pagesOrdinal = -1
export const deadlineMsMax = 2 ** 48 - 1
/** Lengths, in characters, at which ids that callers chose are found by their beginning. */
export const idPrefixChars: readonly number[] = [0, 4, 8, 12, 16, 24, 32]
/** decision: so many that, with 8 workers at one row, hardly any write loses them all. */
export const writeAttemptsMax = 200

// What is done beside requests
/** decision: how often it is written which keys were used today. */
export const keyUsesWriteMs = 5_000
/** Of applications whose keys were used and not yet written. */
export const keyUsesNotedMax = 10_000
/** Of applications in one write. */
export const keyUsesPerWrite = 100
export const sweepIntervalMs = 1_000
/** decision: of one transaction, which others wait for: 200 took up to 140 ms (hardening H113). */
export const sweepBatchRows = 20
/** decision: from then on a sweep, or what is due, is late, and others wait longer: 100,000 rows of
 * one second take 30 to 34 s on a slow disk (hardening H113), and all must go in time. */
export const sweepLateMs = 35_000
export const sweepLateBatchRows = 50
/** decision: just before its 60 s are over while running; a row costs 2.9 pages, not 4.3. */
export const sweepOverdueMs = 50_000
export const sweepOverdueBatchRows = 400

// Keys of security codes
/** decision: codes that end within it share a key, which is due that much later at most. */
export const codeKeySpanMs = 5_000
/** decision: in the memory of a process, after which one is looked for again; of one tenant. */
export const codeKeyKeptMs = 5_000
export const codeKeysKeptMax = 1_024
/** decision: how often what a file has left of them is overwritten, so that it is within 60 s. */
export const codeKeysScrubMs = 15_000
/** decision: so many times as long as a look took there is none, for it goes through all of it. */
export const codeKeysScrubRest = 20
/** Of them that one look is for, of all tenants: more are left to later writes. */
export const codeKeysLeftMax = 1_024
