/**
 * Every bound that callers meet, with its unit in its name. Bounds of running a vault are in
 * `operation-limits.ts`, those of settings in `setting-limits.ts`, those of the work inside a
 * process in `work-limits.ts`, those of the store in `store/core/limits.ts`. No other file may hold
 * a magic number.
 *
 * Source: contract section 16 unless a line says otherwise.
 * @module
 */

// Transport
export const bodyBytesMax = 1024 * 1024
/** decision: all bodies being received, per process and per credential (http/budgets.ts). */
export const bodiesBytesMax = 64 * 1024 * 1024
export const credentialBodiesBytesMax = 16 * 1024 * 1024
/**
 * decision: from the request for a body to its last byte, however slowly it arrives. The server
 * itself requires about 16 KiB a second, and ends a slower connection.
 */
export const bodyMsMax = 30_000
/**
 * decision: total of the long bodies processed at once, and the length from which one is long. A
 * hostile body takes up to 60 times its length in memory once parsed.
 */
export const parsedBodiesBytesMax = 1024 * 1024
/** decision: in addition, for bodies of credentials that have none in progress. */
export const parsedBodiesSpareBytes = 256 * 1024
/** decision: for one credential while no other waits: one waits for its write, one is processed. */
export const longBodiesPerCredentialMax = 2
export const shortBodyBytesMax = 16 * 1024
/**
 * decision: operations of this process in the database at once: more in one transaction are no
 * faster. As many more for credentials that have few there.
 */
export const storeWorkMax = 512
export const storeSpareMax = 512
export const storeFew = 16
/** decision: operations that read pages: twice the number of connections for them. */
export const storePagesMax = 8
export const storeFewPages = 2
/** decision: credentials with few there beside those, of one application and of one tenant. */
export const storeFewsPerApplication = 8
export const storeFewsPerTenant = 16
/** decision: long answers being sent, per process and per credential. */
export const answersBytesMax = 64 * 1024 * 1024
export const credentialAnswersBytesMax = 16 * 1024 * 1024
/** decision: a longer answer counts, and is sent in pieces; a page of 20 cards is shorter. */
export const shortAnswerBytesMax = 64 * 1024
export const answerPieceBytes = 256 * 1024
/** decision: unread bytes of a body that may still arrive before its connection is closed. */
export const unreadBodyBytesMax = 64 * 1024
export const urlBytesMax = 8 * 1024
/** The server's own bound, which cannot be changed here; a longer block is answered with 431. */
export const headerBlockBytesMax = 16 * 1024
export const traceIdCharsMax = 100
/** Characters of a reason that a caller states. */
export const statedReasonCharsMax = 200
/** Listing more faults of one body would not help. */
export const bodyFaultsMax = 20
/**
 * decision: unknown names of one body that are compared with known ones, some milliseconds of work;
 * and those whose result is remembered for when they recur.
 */
export const comparedNamesMax = 4_096
export const repeatedNamesMax = 64
/** Edits by which a member's name may differ from a known one and still count as a misspelling. */
export const misspellingsMax = 2
/** decision: the server closes a connection that sends no whole request, or reads no answer. */
export const idleSecondsMax = 10
/**
 * decision: like `idleSecondsMax`, for a Unix socket, where the server has one timeout for one
 * request and for all together: longer than all waits of a request without a body.
 */
export const socketIdleSecondsMax = 120
/** decision: for 503 and 429; a bucket refilled each second has a token by then. */
export const retryAfterSeconds = 1
/** decision: credentials counted at a time; the least recently used one is forgotten. */
export const rateBucketsMax = 10_000
/**
 * decision: rejected requests in one turn of the event loop, above which a connection that sends
 * them without waiting is closed. They take about 2 ms.
 */
export const strangersPerTurnMax = 100
/** decision: the same of admitted requests. They take 0.1 to 0.2 s. */
export const admittedPerTurnMax = 1_000
/** decision: time for which a browser may cache the answer to a preflight. */
export const preflightSecondsMax = 600
/** decision: headers of a client, or under a prefix, that one preflight may allow. */
export const agentHeadersMax = 4

// Requests of the vault to others
/** decision: an address that callers give; longer ones are cut by servers and logs. */
export const destinationCharsMax = 2_048
/** Labels and the dots between them. Source: RFC 1035 section 2.3.4, without the root. */
export const hostNameCharsMax = 253
/** decision: wait for the addresses of a name. */
export const resolveMsMax = 5_000
/** decision: from the look-up of the name to the last byte of the answer. */
export const sendMsMax = 20_000
/** Source: RFC 9293 section 3.1. */
export const portMax = 65_535
/** decision: little or nothing of an answer is used, so a longer one is only a burden. */
export const sentAnswerBytesMax = 64 * 1024
/** decision: longest wait that a receiver may ask for. */
export const retryAfterSecondsMax = 24 * 60 * 60

// Webhooks
/** Source: Standard Webhooks 1.0.0, "Signature scheme". */
export const webhookSecretBytesMin = 24
export const webhookSecretBytesMax = 64
/** decision: a secret that is made here. */
export const webhookSecretBytes = 32
/** Source: published clients, which know at most five. */
export const webhooksPerTenantMax = 5
/** decision: for how long a replaced secret signs as well. */
export const webhookOverlapHoursDefault = 24
export const webhookOverlapHoursMax = 7 * 24
/** decision: replays and retries that are asked for and not begun. */
export const webhookOrdersMax = 100
/** decision: addresses of e-mail that published clients send; no mail is sent to them. */
export const notifyEmailCharsMax = 320

// The feed of events
export const feedWaitSecondsMax = 20
/** decision: entries that one page looks through, and events from which on it ends. */
export const feedEntriesMax = 10_000
export const feedEventsMax = 1_000
/** decision: characters of ids from which on a page ends. */
export const feedIdCharsMax = 128 * 1_024
/** decision: pages that wait for events, in a process and of one credential. */
export const feedWaitsMax = 128
export const feedWaitsPerCredentialMax = 4
/** decision: streams of events, in a process and of one credential. */
export const feedStreamsMax = 64
export const feedStreamsPerCredentialMax = 4
/** decision: after that time a stream ends, and its reader asks again; as it does at an end. */
export const feedStreamMsMax = 5 * 60_000
export const feedRetryMs = 1_000
/** decision: a text of a stream ends from here on; a reader who takes nothing holds one. */
export const feedPieceChars = 32 * 1_024
/** decision: a stream without events says so; less than `idleSecondsMax`. */
export const feedCommentMs = 5_000
/** Numbers of entries have 48 bits. */
export const sequenceMax = 2 ** 48 - 1

// Idempotency keys (contract section 1)
export const idempotencyKeyCharsMax = 200
export const idempotencyKeptMs = 24 * 60 * 60 * 1_000
/** decision: largest stored result of a request; beyond it, its key answers 409. */
export const idempotencyEffectBytesMax = 1_500_000

// JSON
export const jsonDepthMax = 64
/** decision: more than the exact decimal text of any double needs (1,077). */
export const jsonNumberCharsMax = 2_000
/** decision: members of one object (hardening A17). */
export const jsonMembersMax = 10_000

// Tokens
export const tokenDataBytesMax = 512 * 1024
/** Steps in which the size of data that a caller cannot see is judged and counted. */
export const hiddenDataStepBytes = 16 * 1024
/** Steps in which the members of objects in such data are counted. */
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
/** decision: uniques by which equal tokens that cannot see each other stay free of races. */
export const dedupSeatsMax = 9
/** Redraws of a random alias because a token already has it (contract section 7). */
export const aliasRedrawsMax = 10
/** decision: digests of each kind of shared term cached per tenant: types, containers, days. */
export const sharedTermsMax = 1_024
export const sharedTermCharsMax = 100

// Bulk (contract section 15)
export const bulkLeavesMax = 1_000
/** decision: arrays and objects around the values, which are walked and printed too. */
export const bulkFramesMax = 10_000
/** decision: a small request may ask for much data repeatedly, so its answer is bounded too. */
export const bulkAnswerCharsMax = 16 * 1024 * 1024

// Token data (contract section 5)
export const cardNumberDigitsMin = 13
export const cardNumberDigitsMax = 19
export const bankAccountDigitsMax = 17
export const usBankAccountDigitsMin = 3
/** decision: a name, an address or an e-mail address, in UTF-16 units. */
export const personalTextCharsMax = 1_000

// Expressions (contract section 6)
export const expressionCharsMax = 400
export const expressionFiltersMax = 16
/** decision: counted work stands for 5 ms of an expression; a step was measured as 1 to 2 ns. */
export const evaluationStepsMax = 3_000_000
/**
 * decision: all evaluations of one request. A fifth suffices for 1,000 cards, each with ten search
 * indexes that take its HMAC, an alias of the number for an id, and a mask that must be probed.
 */
export const requestStepsMax = 50 * evaluationStepsMax
export const padLengthMax = 1_000
/**
 * decision: a length above the data limit can only be a mistake (hardening H93).
 * @alias
 */
export const revealCharsMax = tokenDataBytesMax
/** decision: draws of one alias until one is allowed; one in five is, so none needs so many. */
export const aliasAttemptsMax = 100
/** A single hidden digit would follow from the others by the Luhn check. */
export const maskHiddenDigitsMin = 2
/** decision: all draws and probes of one id together; there may be nine for each digit. */
export const idStepsMax = 4 * evaluationStepsMax
/**
 * decision: all probes of one mask together; there may be nine for each digit.
 * @alias
 */
export const maskProbeStepsMax = evaluationStepsMax
/** decision: outputs of a mask that read a card's number; each is judged at create and update. */
export const maskNumberOutputsMax = 64
/** decision: the three evaluations that prove from its form what such an output shows. */
export const placeProbeStepsMax = 45_000
/** A mask as printed: every answer about its token includes it. */
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
/** Ids of tokens that a simulated change names, in all. */
export const accessSamplesMax = 20

// Sessions (contract section 12)
export const sessionMsDefault = 3 * 60 * 1_000
export const sessionMsMax = 24 * 60 * 60 * 1_000
/** decision: conditions can refer only to an id and a container. */
export const ruleConditionsMax = 10

// Paging (contract section 4)
export const pageSizeDefault = 20
export const pageSizeMax = 100
export const pageNumberMax = 1_000_000_000
/** decision: all tokens of one answer; `pageSizeDefault` of the largest always fit. */
export const listAnswerCharsMax = 16 * 1024 * 1024

/** Containers of one answer: each costs two questions to the store. */
export const containersListedMax = 50

// Search (contract section 14)
export const searchQueryCharsMax = 2_000
export const searchClausesMax = 100
/** Guesses of one credential: clauses `data:` and `fingerprint:`, and creates (section 14). */
export const searchGuessesPerMinuteMax = 300
export const createGuessesPerMinuteMax = 6_000
/** Look-ups of unknown ids, and creates with a chosen id (section 14). */
export const lookupGuessesPerMinuteMax = 6_000
export const chosenIdsPerMinuteMax = 60_000
/** Clauses `data:` and `fingerprint:` in one search of a caller who cannot see all its results. */
export const guessClausesMax = 5
export const guessWindowMs = 60_000
/** decision: joint guess budget of an application's sessions, as a multiple of one budget. */
export const sessionGuessBudgets = 10
/** decision: credentials counted at a time; further ones share one budget. */
export const guessersMax = 10_000
/** Nesting of parentheses and negations. */
export const searchDepthMax = 16
/** Nodes of one compiled search, before the caller's rules join it. */
export const searchNodesMax = 4_000
/** decision: rows that one request may read to test what no term covers; then it is refused. */
export const walkedRowsMax = 200_000
/** decision: answers of one credential that test rows at a time; another one is 429. */
export const walksPerCredentialMax = 2

// Keys of applications
/** decision: live keys at a time; a rotation needs two. */
export const applicationKeysMax = 10

// Time
export const expiryTextCharsMax = 64
/** The widest offset in use; hardening H108. */
export const offsetMinutesMax = 14 * 60
