/**
 * Every bound of the service but those of the store (`store/limits.ts`) and of running a vault
 * (`operation-limits.ts`), with its unit in its name.
 * Nothing else may hold a magic number.
 *
 * Source: contract section 16 unless a line says otherwise.
 * @module
 */

// Transport
export const bodyBytesMax = 1024 * 1024
/** decision: of bodies under way, in this process and of one credential (gate/budgets.ts). */
export const bodiesBytesMax = 64 * 1024 * 1024
export const credentialBodiesBytesMax = 16 * 1024 * 1024
/**
 * decision: from where a body is asked for to its last byte, however it drips. The server's own
 * pace is about 16 KiB a second: it ends a connection that sends less.
 */
export const bodyMsMax = 30_000
/**
 * decision: of long bodies that are worked on at a time, and from which length on one is long. What
 * is parsed of them takes up to 60 times as much, where they are made for that.
 */
export const parsedBodiesBytesMax = 1024 * 1024
/** decision: beside those, for bodies of credentials of which none is worked on. */
export const parsedBodiesSpareBytes = 256 * 1024
/** decision: of one credential while no other waits; one waits for its write, one is worked on. */
export const longBodiesPerCredentialMax = 2
export const shortBodyBytesMax = 16 * 1024
/**
 * decision: of operations at work in a database, in this process: more in one transaction are no
 * faster. As many more for credentials that have few there.
 */
export const storeWorkMax = 512
export const storeSpareMax = 512
export const storeFew = 16
/** decision: of those that begin in one turn of the event loop, each of which takes 0.1 ms. */
export const storeBeginsPerTurn = 64
/** decision: of operations that read pages: twice as many as there are connections for them. */
export const storePagesMax = 8
export const storeFewPages = 2
/** decision: of long answers under way, in this process and of one credential. */
export const answersBytesMax = 64 * 1024 * 1024
export const credentialAnswersBytesMax = 16 * 1024 * 1024
/** decision: what is longer counts, and leaves in pieces; a page of 20 cards is not. */
export const shortAnswerBytesMax = 64 * 1024
export const answerPieceBytes = 256 * 1024
/** Where pages count, which need no key, among the ordinals of credentials: no row has it. */
export const pagesOrdinal = -1
/**
 * decision: a body that came within this time came with its header: what its caller may do was read
 * as shortly before its work as that of a request without a body.
 */
export const callerNowMs = 1
/** decision: of a body that nobody reads so much may still come, before its connection ends. */
export const unreadBodyBytesMax = 64 * 1024
export const urlBytesMax = 8 * 1024
/** The server's own bound, which nothing here can move; more is 431. */
export const headerBlockBytesMax = 16 * 1024
export const traceIdCharsMax = 100
export const drainMsMax = 10_000
/** From a failed commit to the end of the process: time for the answers under way to leave. */
export const haltMs = 100
export const storeCloseMsMax = 5_000
/**
 * decision: what certificates are read anew in: so long a listener asks its callers to come to the
 * next one, and so long it then takes no connection but lets those come through that are half made.
 */
export const listenerCloseMs = 300
export const listenerSettleMs = 300
/** decision: from one worker to the next, so that most of them take new connections at once. */
export const workerReloadMs = listenerCloseMs + listenerSettleMs + 100
/** decision: of certificates, of a key and of what others' certificates are checked by. */
export const tlsFileBytesMax = 1024 * 1024
/** decision: whoever renews certificates by machine does so earlier. */
export const certificateEndsSoonMs = 14 * 24 * 60 * 60 * 1_000
/** decision: what a worker gets to end in; then it is ended. */
export const workerStopMsMax = drainMsMax + storeCloseMsMax + 1_000
/** decision: how long after its end a worker is started again, doubled each time. */
export const workerRestartMsMin = 100
export const workerRestartMsMax = 5_000
/** decision: what a worker gets to listen in; then it hangs, and another one takes its place. */
export const workerReadyMsMax = 60_000
/** decision: one that ran for so long was well, and its next restart comes at once again. */
export const workerSteadyMs = 60_000
/** decision: starts that fail in a row; of a worker that never listened they end the instance. */
export const workerStartsMax = 5
/** A body with more of them says no more by listing them all. */
export const bodyFaultsMax = 20
/**
 * decision: unknown names of one body that are compared with those that may be meant, some
 * milliseconds of work; and how many of them are compared once wherever they come again.
 */
export const comparedNamesMax = 4_096
export const repeatedNamesMax = 64
/** Letters by which a member's name may differ from a known one and still be meant for it. */
export const misspellingsMax = 2
/** decision: the server ends a connection that sends no whole request, or takes no answer. */
export const idleSecondsMax = 10
/** decision: how often requests under way are looked at; less than `idleSecondsMax`. */
export const keepOpenEveryMs = 2_000
/**
 * decision: as `idleSecondsMax`, on a socket of the file system, where the server has no other time
 * for one request than for all: more than a request without a body waits, all together.
 */
export const socketIdleSecondsMax = 120
/** decision: of 503 and 429; a bucket that is refilled each second has a token by then. */
export const retryAfterSeconds = 1
/** decision: credentials that are counted at a time; the least recent one is forgotten. */
export const rateBucketsMax = 10_000
/**
 * decision: requests of one turn of the event loop that are not admitted, from which on a
 * connection that sends them without waiting is ended. They take about 2 ms.
 */
export const strangersPerTurnMax = 100
/** decision: how long a browser may keep the answer to a preflight. */
export const preflightSecondsMax = 600
/** decision: headers of a client or under a prefix that one preflight is allowed. */
export const agentHeadersMax = 4

// Idempotency keys (contract section 1)
export const idempotencyKeyCharsMax = 200
export const idempotencyKeptMs = 24 * 60 * 60 * 1_000
/** decision: what was done is told by so much at most; beyond, its key answers 409. */
export const idempotencyEffectBytesMax = 1_500_000

// Settings: what an operator may choose
export const bodyBytesSettingMin = 1_024
export const bodyBytesSettingMax = 16 * 1024 * 1024
export const bodiesBytesSettingMax = 4 * 1024 ** 3
export const requestsPerSecondSettingMax = 1_000_000
export const guessesPerMinuteSettingMax = 1_000_000_000
export const keyHeadersMax = 8
export const headerPrefixesMax = 4
export const corsOriginsMax = 100
export const trustedProxiesMax = 100
export const settingCharsMax = 1_000
/** decision: each has its own memory, and its own readers of the store. */
export const workersMax = 64
export const configFileBytesMax = 64 * 1024
/** decision: of rules for an application, within `controlBodyBytesMax`. */
export const rulesFileBytesMax = 48 * 1024

// JSON
export const jsonDepthMax = 64
/** decision: more than the exact decimal text of any double needs (1,077). */
export const jsonNumberCharsMax = 2_000
/** decision: characters that are parsed or printed in one turn; they take about 0.3 ms. */
export const jsonTurnChars = 8 * 1_024
/** decision: of one object (hardening A17). */
export const jsonMembersMax = 10_000
/** decision: of one object in a table of the engine, which collides at worst; more are ordered. */
export const hashedMembersMax = 32
/** decision: of a cache, looked at before the others, which are ordered. */
export const hashedTextsMax = 64
/** decision: what is shorter the engine's parser keeps in a table of all such texts. */
export const pooledCharsMax = 64
/** decision: places of a map by texts that are moved for one more. */
export const textRunMax = 128

// Tokens
export const tokenDataBytesMax = 512 * 1024
/** Of data that its changer sees nothing of, by steps of which its size is judged. */
export const hiddenDataStepBytes = 16 * 1024
/** Of objects in such data, by steps of which their members are. */
export const hiddenMembersStep = 1_000
export const tokenIdCharsMin = 3
export const tokenIdCharsMax = 400
export const searchIndexesMax = 10
export const searchIndexResultCharsMax = 1_000
export const metadataPairsMax = 50
export const metadataKeyCharsMax = 100
export const metadataValueCharsMax = 500
export const containerCharsMax = 400
export const containerSegmentsMax = 10
export const containersMax = 1
export const idFilterMax = 100
/** decision: uniques by which equal tokens that do not reach one another keep races apart. */
export const dedupSeatsMax = 9
/** Random aliases that are drawn once more because a token has them (contract section 7). */
export const aliasRedrawsMax = 10
/** decision: digests of each kind of shared term that a tenant keeps: types, containers, days. */
export const sharedTermsMax = 1_024
export const sharedTermCharsMax = 100

// Bulk (contract section 15)
export const bulkLeavesMax = 1_000
/** decision: arrays and objects around the values, which are walked and printed like them. */
export const bulkFramesMax = 10_000
/** decision: a small request may ask for much data many times; its answer is bounded too. */
export const bulkAnswerCharsMax = 16 * 1024 * 1024
/** decision: so long may one request work before others have their turn. */
export const bulkTurnMsMax = 2
/**
 * decision: while requests come, what a turn of long work is followed by, in times of its length,
 * and within which bounds.
 */
export const restPerTurn = 8
export const restMsMin = 1
export const restMsMax = 50

// Token data (contract section 5)
export const cardNumberDigitsMin = 13
export const cardNumberDigitsMax = 19
export const bankAccountDigitsMax = 17
export const usBankAccountDigitsMin = 3

// Expressions (contract section 6)
export const expressionCharsMax = 400
export const expressionFiltersMax = 16
export const expressionCacheEntriesMax = 4_096
/** decision: the masks of types, and a few of each application. */
export const maskCacheEntriesMax = 256
export const cachedMaskCharsMax = 4_096
/** decision: counted work stands for 5 ms of an expression; one step was measured as 1 to 2 ns. */
export const evaluationStepsMax = 3_000_000
/**
 * decision: of all evaluations of one request. 1,000 cards, each with ten search indexes that take
 * its HMAC, an alias of the number for an id, and a mask that must be probed, take a fifth of it.
 */
export const requestStepsMax = 50 * evaluationStepsMax
/** decision: of one request, from which on others have their turn; they take about 2 ms. */
export const turnStepsMax = 1_000_000
export const padLengthMax = 1_000
/**
 * decision: a length beyond the data limit can only be a mistake (hardening H93).
 * @alias
 */
export const revealCharsMax = tokenDataBytesMax
/** decision: draws of one alias until one is allowed; one in five is, so none needs so many. */
export const aliasAttemptsMax = 100
/** One hidden digit would follow from the others by the Luhn check. */
export const maskHiddenDigitsMin = 2
/** decision: of all draws and probes of one id together; there may be nine for each digit. */
export const idStepsMax = 4 * evaluationStepsMax
/**
 * decision: of all probes of one mask together; there may be nine for each digit.
 * @alias
 */
export const maskProbeStepsMax = evaluationStepsMax
/** decision: outputs of a mask that read a card's number; each is judged at create and update. */
export const maskNumberOutputsMax = 64
/** decision: of the three looks at what such an output shows by its form. */
export const placeProbeStepsMax = 45_000
/** Of a mask as printed: it is in every answer about its token. */
export const maskCharsMax = 16 * 1024
/** Of what a mask shows, to be kept beside the record: what is longer is evaluated at each read. */
export const keptMaskedCharsMax = 512
/** @alias */
export const maskDepthMax = jsonDepthMax
/** decision: masks are evaluated at each read, so their size is bounded. */
export const maskValuesMax = 1_000

// Applications
/** decision: of one installation, as far as commands look at all of them. */
export const tenantsMax = 1_000
export const nameCharsMax = 200
export const descriptionCharsMax = 200
export const permissionsMax = 50
export const rulesMax = 100

// Sessions (contract section 12)
export const sessionMsDefault = 3 * 60 * 1_000
export const sessionMsMax = 24 * 60 * 60 * 1_000
/** decision: an id and a container are all that conditions can speak of. */
export const ruleConditionsMax = 10

// Paging (contract section 4)
export const pageSizeDefault = 20
export const pageSizeMax = 100
export const pageNumberMax = 1_000_000_000
/** decision: of all tokens of one answer; `pageSizeDefault` of the largest always fit. */
export const listAnswerCharsMax = 16 * 1024 * 1024

// Search (contract section 14)
export const searchQueryCharsMax = 2_000
export const searchClausesMax = 100
/** Guesses of one credential: clauses `data:` and `fingerprint:`, and creates (section 14). */
export const searchGuessesPerMinuteMax = 300
export const createGuessesPerMinuteMax = 6_000
/** Look-ups of ids that lead nowhere, and creates with a chosen id (section 14). */
export const lookupGuessesPerMinuteMax = 6_000
export const chosenIdsPerMinuteMax = 60_000
/** Clauses `data:` and `fingerprint:` in one search of whoever does not see all that it finds. */
export const guessClausesMax = 5
export const guessWindowMs = 60_000
/** decision: what the sessions of one application may guess together, in budgets of one. */
export const sessionGuessBudgets = 10
/** decision: credentials that are counted at a time; those that come then share one budget. */
export const guessersMax = 10_000
/** Of parentheses and negations within each other. */
export const searchDepthMax = 16
/** Of one compiled search, before the caller's rules join it. */
export const searchNodesMax = 4_000
/** decision: rows that one answer may read to test what no term says; beyond, it is refused. */
export const walkedRowsMax = 200_000
/** decision: answers of one credential that test rows at a time; one more is 429. */
export const walksPerCredentialMax = 2
/** Rows that are read at once to be tested. */
export const testStepRows = 100
/** Lengths, in characters, at which ids that callers chose are found by their beginning. */
export const idPrefixChars: readonly number[] = [0, 4, 8, 12, 16, 24, 32]

// Keys of applications
/** decision: those that are live at a time; a rotation needs two. */
export const applicationKeysMax = 10
/** decision: how often it is written which keys were used today. */
export const keyUsesWriteMs = 5_000
/** Of applications whose keys were used and not yet written. */
export const keyUsesNotedMax = 10_000
/** Of applications in one write. */
export const keyUsesPerWrite = 100

// Time
export const expiryTextCharsMax = 64
/** The widest offset in use; hardening H108. */
export const offsetMinutesMax = 14 * 60
export const sweepIntervalMs = 1_000
/** decision: a clock that is corrected moves by less, a wrong one by more (serve/clock.ts). */
export const clockStepMsMax = 60_000
/** decision: how long a clock that jumped ahead must stand before anything is destroyed by it. */
export const clockHoldMs = 60 * 60 * 1_000
/** decision: the same of a start after downtime. What is due leaves within 60 s of it. */
export const clockStartHoldMs = 20_000
/** decision: how far ahead the clock is written, so that it is written about as rarely. */
export const clockLeaseMs = 250
/** decision: of the file of the clock; more than any instant takes, so that more is damage. */
export const clockFileBytesMax = 64
/** decision: of one transaction, which others wait for: 200 took up to 140 ms (hardening H113). */
export const sweepBatchRows = 20
/** decision: from then on a sweep, or what is due, is late, and others wait longer: 100,000 rows of
 * one second take 30 to 34 s on a slow disk (hardening H113), and all must go in time. */
export const sweepLateMs = 35_000
export const sweepLateBatchRows = 50
/** decision: just before its 60 s are over while running; a row costs 2.9 pages, not 4.3. */
export const sweepOverdueMs = 50_000
export const sweepOverdueBatchRows = 400
export const credentialCacheEntriesMax = 10_000
/** decision: how long a credential is not read anew, should nothing tell that it has changed. */
export const credentialCacheMsMax = 60_000

// Writes
/** decision: so many that, with 8 workers at one row, hardly any write loses them all. */
export const writeAttemptsMax = 200

// Files
/** As many as Linux follows on one way (path_resolution(7)). */
export const symbolicLinksMax = 40

// Sealing
/** decision: what is longer gets memory of its own for each call. */
export const sealScratchBytes = 16 * 1_024
/** decision: of values, keys and rows that share an allocation. */
export const sealSlabBytes = 64 * 1_024
export const keySlabBytes = 4 * 1_024
export const rowSlabBytes = 64 * 1_024
/** decision: of the clear header of a row with few hundred terms; a longer one has its own room. */
export const headerScratchBytes = 4 * 1_024

// Store: what others know of it
export const uniqueBytes = 32
export const termBytes = 16
/** decision: rows whose digests stand in memory before they are folded, as long as nobody says. */
export const foldRowsDefault = 20_000
/** decision: fewer of them would fold with every few writes, more would take too much memory. */
export const foldRowsSettingMin = 10
export const foldRowsSettingMax = 200_000
export const mapBytes = 64 * 1024 ** 3
/** decision: what a process needs beside that map, once it has started. */
export const addressSpaceSpareBytes = 1024 ** 3
/** decision: of a name, an address or an e-mail address, in UTF-16 units. */
export const personalTextCharsMax = 1_000
/** Of the security code of a card (contract section 5). */
export const codeLifetimeDefault = '24h'
export const codeLifetimeMsMin = 60 * 1_000
export const codeLifetimeMsMax = 7 * 24 * 60 * 60 * 1_000
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

export const deadlineMsMax = 2 ** 48 - 1
/** decision: of one walk, as told to a person; more of them say no more. */
export const findingsShownMax = 100
/** decision: what writes leave free on the disk, so that removing goes on (hardening L11). */
export const freeSpaceBytesMin = 64 * 1024 * 1024
/** decision: so long may the processes of a killed instance take to be gone. */
export const lockWaitMsMax = 1_000
export const lockPollMs = 5
/** decision: how often the holder of a data folder looks whether the folder is still its own. */
export const folderLookMs = 500
/** decision: so often is looked whether it does; what one turn took beyond that does not count. */
export const turningTickMs = 100
