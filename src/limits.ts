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

// Expressions (contract section 6)
export const expressionCharsMax = 400
export const expressionFiltersMax = 16
export const expressionCacheEntriesMax = 4_096
export const evaluationMsMax = 5
export const padLengthMax = 1_000
export const maskDepthMax = jsonDepthMax

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
