/**
 * Every bound that callers meet, with its unit in its name. Those of running a vault stand in
 * `operation-limits.ts`, those of what its operator may choose in `setting-limits.ts`, those of the
 * work inside a process in `work-limits.ts`, those of the store in `store/core/limits.ts`.
 * Nothing else may hold a magic number.
 *
 * Source: contract section 16 unless a line says otherwise.
 * @module
 */

// Transport
export const bodyBytesMax = 1024 * 1024
/** decision: of bodies under way, in this process and of one credential (http/budgets.ts). */
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
/** decision: of operations that read pages: twice as many as there are connections for them. */
export const storePagesMax = 8
export const storeFewPages = 2
/** decision: of long answers under way, in this process and of one credential. */
export const answersBytesMax = 64 * 1024 * 1024
export const credentialAnswersBytesMax = 16 * 1024 * 1024
/** decision: what is longer counts, and leaves in pieces; a page of 20 cards is not. */
export const shortAnswerBytesMax = 64 * 1024
export const answerPieceBytes = 256 * 1024
/** decision: of a body that nobody reads so much may still come, before its connection ends. */
export const unreadBodyBytesMax = 64 * 1024
export const urlBytesMax = 8 * 1024
/** The server's own bound, which nothing here can move; more is 431. */
export const headerBlockBytesMax = 16 * 1024
export const traceIdCharsMax = 100
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

// JSON
export const jsonDepthMax = 64
/** decision: more than the exact decimal text of any double needs (1,077). */
export const jsonNumberCharsMax = 2_000
/** decision: of one object (hardening A17). */
export const jsonMembersMax = 10_000

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

// Token data (contract section 5)
export const cardNumberDigitsMin = 13
export const cardNumberDigitsMax = 19
export const bankAccountDigitsMax = 17
export const usBankAccountDigitsMin = 3
/** decision: of a name, an address or an e-mail address, in UTF-16 units. */
export const personalTextCharsMax = 1_000

// Expressions (contract section 6)
export const expressionCharsMax = 400
export const expressionFiltersMax = 16
/** decision: counted work stands for 5 ms of an expression; one step was measured as 1 to 2 ns. */
export const evaluationStepsMax = 3_000_000
/**
 * decision: of all evaluations of one request. 1,000 cards, each with ten search indexes that take
 * its HMAC, an alias of the number for an id, and a mask that must be probed, take a fifth of it.
 */
export const requestStepsMax = 50 * evaluationStepsMax
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
/** @alias */
export const maskDepthMax = jsonDepthMax
/** decision: masks are evaluated at each read, so their size is bounded. */
export const maskValuesMax = 1_000

// Applications
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
/**
 * Clauses `data:` and `fingerprint:` in one search of a caller who does not see all that it finds.
 */
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

// Keys of applications
/** decision: those that are live at a time; a rotation needs two. */
export const applicationKeysMax = 10

// Time
export const expiryTextCharsMax = 64
/** The widest offset in use; hardening H108. */
export const offsetMinutesMax = 14 * 60
