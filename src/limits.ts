/**
 * Every bound of the service, with its unit in its name. Nothing else may hold a magic number.
 *
 * Source: contract section 16 unless a line says otherwise.
 * @module
 */

// Transport
export const bodyBytesMax = 1024 * 1024
export const urlBytesMax = 8 * 1024
export const headerBlockBytesMax = 16 * 1024
export const headerTokenCharsMax = 200
export const traceIdCharsMax = 100
export const drainMsMax = 10_000

// JSON
export const jsonDepthMax = 64
/** decision: more than the exact decimal text of any double needs (1,077). */
export const jsonNumberCharsMax = 2_000
/** decision: strings of a longer text are copied, so that none keeps the whole text alive. */
export const jsonSharedCharsMax = 4_096

// Tokens
export const tokenDataBytesMax = 512 * 1024
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

// Token data (contract section 5)
export const cardNumberDigitsMin = 13
export const cardNumberDigitsMax = 19
export const bankAccountDigitsMax = 17
export const usBankAccountDigitsMin = 3

// Expressions (contract section 6)
export const expressionCharsMax = 400
export const expressionFiltersMax = 16
export const expressionCacheEntriesMax = 4_096
export const evaluationMsMax = 5
/** decision: counted work stands for `evaluationMsMax`; one step was measured as 1 to 2 ns. */
export const evaluationStepsMax = 3_000_000
export const padLengthMax = 1_000
/** decision: a length beyond the data limit can only be a mistake (hardening H93). */
export const revealCharsMax = tokenDataBytesMax
/** decision: draws of one alias until one is allowed; one in five is, so none needs so many. */
export const aliasAttemptsMax = 100
export const maskDepthMax = jsonDepthMax
/** decision: masks are evaluated at each read, so their size is bounded. */
export const maskLeavesMax = 1_000

// Applications
export const nameCharsMax = 200
export const descriptionCharsMax = 200
export const permissionsMax = 50
export const rulesMax = 100

// Paging (contract section 4)
export const pageSizeDefault = 20
export const pageSizeMax = 100
export const pageNumberMax = 1_000_000_000

// Time
export const expiryTextCharsMax = 64
/** The widest offset in use; hardening H108. */
export const offsetMinutesMax = 14 * 60
export const sweepIntervalMs = 1_000
export const sweepBatchRows = 200
export const credentialCacheEntriesMax = 10_000

// Writes
export const writeAttemptsMax = 20

// Store
export const uniqueBytes = 32
export const termBytes = 16
export const chunkOrdinals = 65_536
export const chunkArrayEntriesMax = 4_095
export const mapBytes = 64 * 1024 ** 3
export const readersMax = 1_024
export const groupCommitChangesMax = 1_000
export const ordinalMax = 2 ** 48 - 1
export const deadlineMsMax = 2 ** 48 - 1
export const rowVersionMax = 2 ** 32 - 1
export const rowUniquesMax = 64
export const rowTermsMax = 512
export const rowPartsMax = 16
export const rowBytesMax = 2 * 1024 * 1024
export const windowRowsMax = 1_000
export const queryNodesMax = 10_000
export const queryDepthMax = 32
/** Of one walk over the store. */
export const findingsMax = 10_000
/** How long a failed commit is asked for its cause. */
export const commitCauseMsMax = 100
