/**
 * Bounds and defaults of settings (`settings.ts`, `serving-settings.ts`). Defaults of what callers
 * meet are in `limits.ts`.
 *
 * As there, each has a name and a unit, and names its source.
 * @module
 */

// Requests and answers
export const bodyBytesSettingMin = 1_024
export const bodyBytesSettingMax = 16 * 1024 * 1024
export const bodiesBytesSettingMax = 4 * 1024 ** 3
export const requestsPerSecondSettingMax = 1_000_000
export const guessesPerMinuteSettingMax = 1_000_000_000
export const newRevealsSettingMax = 1_000_000_000
export const keyHeadersMax = 8
export const headerPrefixesMax = 4
export const corsOriginsMax = 100
export const trustedProxiesMax = 100
/** decision: addresses of receivers that are not public: a few networks. */
export const egressAllowMax = 64
/** decision: each is asked once a minute; more than a handful prove no more. */
export const auditWitnessesMax = 8
export const settingCharsMax = 1_000

// Connections and processes
/**
 * decision: wait of an answered connection for its next request: longer than the 60 s of usual
 * proxies and load balancers, so that they close the connection and not the server.
 */
export const keepAliveSecondsDefault = 75
/** The server's own bound is 255; see `keepAliveSlackSeconds`. */
export const keepAliveSecondsMax = 250
/** decision: a proxy that checks every few seconds has checked twice by then. */
export const drainSecondsSettingMax = 300
/** decision: each has its own memory, and its own readers of the store. */
export const workersMax = 64

// The security code of a card (contract section 5)
export const codeLifetimeDefault = '24h'
export const codeLifetimeMsMin = 60 * 1_000
export const codeLifetimeMsMax = 7 * 24 * 60 * 60 * 1_000

// Rows that wait for the index
/** decision: default number of rows whose digests are in memory before they are folded. */
export const foldRowsDefault = 20_000
/** decision: fewer rows would fold every few writes, more would take too much memory. */
export const foldRowsSettingMin = 10
export const foldRowsSettingMax = 200_000

// Backups of a server
export const backupEveryMsMin = 60 * 1_000
/** decision: a timer of the runtime cannot exceed 24 days. */
export const backupEveryMsMax = 14 * 24 * 60 * 60 * 1_000
export const backupEveryDefault = '6h'
export const backupKeepDefault = 14
export const backupKeepMax = 1_000

/** decision: its owner alone. */
export const socketModeDefault = '600'

// Log
/** decision: smallest share of answers logged: one in so many. */
export const logSampleMax = 1_000_000

// The audit log
/** A year is asked for (PCI DSS 10.5.1), and a month to look at it. */
export const auditDaysDefault = 400
export const auditDaysSettingMax = 36_500
/** decision: below it, a busy day would not fit. */
export const auditBytesSettingMin = 64 * 1024 * 1024
export const auditBytesSettingMax = 2 ** 48
