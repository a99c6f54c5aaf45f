/**
 * Bounds and defaults of what an operator may choose (`settings.ts`, `serving-settings.ts`). The
 * defaults of what callers meet stand in `limits.ts`.
 *
 * As there, each has a name and a unit, and says where it is from.
 * @module
 */

// Requests and answers
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

// Connections and processes
/**
 * decision: a connection that has had an answer waits so long for the next request: longer than
 * the 60 s for which usual proxies and load balancers keep theirs, so that they end it and not we.
 */
export const keepAliveSecondsDefault = 75
/** The server's own bound is 255; see `keepAliveSlackSeconds`. */
export const keepAliveSecondsMax = 250
/** decision: a proxy that asks every few seconds has asked twice by then. */
export const drainSecondsSettingMax = 300
/** decision: each has its own memory, and its own readers of the store. */
export const workersMax = 64

// The security code of a card (contract section 5)
export const codeLifetimeDefault = '24h'
export const codeLifetimeMsMin = 60 * 1_000
export const codeLifetimeMsMax = 7 * 24 * 60 * 60 * 1_000

// Rows that wait for the index
/** decision: rows whose digests stand in memory before they are folded, as long as nobody says. */
export const foldRowsDefault = 20_000
/** decision: fewer of them would fold with every few writes, more would take too much memory. */
export const foldRowsSettingMin = 10
export const foldRowsSettingMax = 200_000

// Backups of a server
export const backupEveryMsMin = 60 * 1_000
/** decision: a timer of the runtime knows no more than 24 days. */
export const backupEveryMsMax = 14 * 24 * 60 * 60 * 1_000
export const backupEveryDefault = '6h'
export const backupKeepDefault = 14
export const backupKeepMax = 1_000

// Log
/** decision: one in so many answers at least. */
export const logSampleMax = 1_000_000
