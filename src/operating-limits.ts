/**
 * Bounds of what is done for those who run a vault, as those of `limits.ts`.
 * @module
 */

// Files of backups
/** decision: of a backup; each is sealed and opened as a whole. */
export const backupChunkBytes = 1024 * 1024
export const backupManifestBytesMax = 4 * 1024

// Progress
/** decision: work on less is done within a second or two. */
export const progressFileBytesMin = 64 * 1024 * 1024
/** decision: between two looks of a bar, and between two lines. */
export const progressDrawMs = 100
export const progressLineMs = 1_000
export const progressBarChars = 40

// Backups of a server
export const backupEveryMsMin = 60 * 1_000
/** decision: a timer of the runtime knows no more than 24 days. */
export const backupEveryMsMax = 14 * 24 * 60 * 60 * 1_000
export const backupEveryDefault = '6h'
export const backupKeepDefault = 14
export const backupKeepMax = 1_000
/** decision: after one that failed, doubled each time up to the interval. */
export const backupRetryMsMin = 5_000
/** decision: one that takes longer than this, and than the interval, hangs. */
export const backupTurnMsMin = 60 * 60 * 1_000
/** decision: intervals that one may come late by until the vault is not ready. */
export const backupLateIntervalsMax = 2
/** decision: of a bucket; each is held, and sent once more where it was lost. */
export const uploadPartBytes = 8 * 1024 * 1024
export const uploadTriesMax = 3
