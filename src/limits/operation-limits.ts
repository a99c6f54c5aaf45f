/**
 * Bounds of running a vault: what its operator meets, beside what its callers do. What an operator
 * may choose, and within which bounds, stands in `setting-limits.ts`.
 *
 * As in `limits.ts`, each has a name and a unit, and says where it is from.
 * @module
 */

// Progress
/** decision: work on less is done within a second or two. */
export const progressFileBytesMin = 64 * 1024 * 1024
/** decision: between two looks of a bar, and between two lines. */
export const progressDrawMs = 100
export const progressLineMs = 1_000
export const progressBarChars = 40

// Questions at a terminal
/** decision: room for a yes or a no, and for what is typed by mistake. */
export const answerBytesMax = 64

// Backups of a server
/** decision: after one that failed, doubled each time up to the interval. */
export const backupRetryMsMin = 5_000
/** decision: one that takes longer than this, and than the interval, hangs. */
export const backupTurnMsMin = 60 * 60 * 1_000
/** decision: intervals that one may come late by until the vault is not ready. */
export const backupLateIntervalsMax = 2
/** decision: of a bucket; each is held, and sent once more where it was lost. */
export const uploadPartBytes = 8 * 1024 * 1024
export const uploadTriesMax = 3

// The list of erasures
/** decision: how long after a line that could not be written it is tried again. */
export const erasureRetryMs = 5_000
/** decision: of one line, of which an id is 400 characters at most. */
export const erasureLineBytesMax = 8_192
/** decision: lines of one write to the vault that is restored. */
export const erasureBatchLines = 1_000

// Metrics
/** decision: from what a read takes by itself to the longest that a body may take. */
export const latencyBucketsSeconds = [
  0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
  10, 30,
]

/** decision: how often the loop is looked at; what holds it up for less is seen now and then. */
export const loopLookMs = 500
/** decision: two scrapes at the usual interval see the same worst. */
export const loopWindowMs = 30_000
/** decision: of a worker that is asked how it fares; one that is silent for longer hangs. */
export const workerAnswerMsMax = 5_000
/** decision: how often a worker looks whether the key is there that it has asked for. */
export const keyLookMs = 5

// Throw-away vaults
/** decision: how often one looks whether the program that started it is still there. */
export const parentCheckMs = 1_000
/** decision: a folder of another one is younger while that one has not locked it yet. */
export const throwAwayAgeMsMin = 60_000

// Log
/** decision: ids whose digests one command asks for. */
export const digestedIdsMax = 1_000
/** decision: how often it is looked whether a state has begun or ended that is logged. */
export const stateLookMs = 1_000
/** decision: lines wait so long to be written with others; a kill loses them. */
export const logFlushMs = 100
/**
 * What a pipe takes whole, so that lines of several processes do not mix: POSIX PIPE_BUF, as Linux
 * has it (pipe(7)).
 */
export const logSharedWriteBytes = 4_096
/** decision: of one write where nobody else writes; so many are not kept waiting. */
export const logBatchBytes = 64 * 1024
/** decision: until a pipe that took no more is tried again. */
export const logRetryMs = 10
/** decision: of lines that wait to be written; more are dropped, and counted. */
export const logBufferBytesMax = 1024 * 1024
/** decision: what the lines that wait get at the end of a process. */
export const logEndMsMax = 1_000

// Keys and the control socket
/**
 * decision: keys of values in a keyring, more are retired first. With the bound below a keyring
 * fits into a page of the engine, and none of it lies in pages of its own.
 */
export const dataKeysMax = 4
/**
 * decision: so long a process keeps a key that is gone, for requests that have read a row while it
 * was there; far longer than any of them takes from reading a row to opening it.
 */
export const retiredKeyMs = 60_000
/** decision: keyrings of before that are looked for in the files; more are scrubbed first. */
export const replacedKeyringsMax = 4
/** decision: of the file of groups; longer ones are kept elsewhere. */
export const groupFileBytesMax = 1024 ** 2
/** Unix sockets have shorter paths than files: `sun_path` of unix(7), without its last NUL. */
export const socketPathBytesMax = 107
/** decision: what somebody may say on the control socket in one piece. */
export const controlBodyBytesMax = 65_536
/**
 * decision: how long a command waits for what a server says at once; longer than a database that
 * does not answer is waited for (`databaseReadMsMax`).
 */
export const controlWaitMs = 8_000
/** decision: random numbers for proofs that wait to be used; older ones are forgotten. */
export const challengesMax = 64
/** decision: rows that are sealed anew in one commit; with 15, the p99 of reads was 2.5 × idle. */
export const resealBatchRows = 2
/** decision: the same where nobody waits for the store: a commit of 2 takes a flush for each 2. */
export const resealAloneRows = 200
/** decision: so many times what a commit of them took is then left to others, where such come. */
export const resealRest = 2
/** decision: rows that are looked at in one go for what they are sealed under. */
export const resealScanRows = 500
/** decision: bytes of the store's file that are looked through at once for a keyring of before. */
export const scrubChunkBytes = 1_048_576
/** decision: looks for keyrings of before, until one finds none. */
export const scrubLooksMax = 10

// Master keys
/** decision: RFC 9106 section 4 would take 2 GiB where they are there; this takes 0.6 s. */
export const passphrasePasses = 3
export const passphraseMemoryBytes = 256 * 1024 ** 2
/** decision: what a file may ask for that somebody else may have written. */
export const passphrasePassesMax = 16
export const passphraseMemoryBytesMax = 2 * 1024 ** 3
/**
 * decision: of a new passphrase: a thief of the folder may guess at it for as long as they like.
 */
export const passphraseBytesMin = 12
export const passphraseBytesMax = 1_024
export const passphraseFileBytesMax = 1_024
export const shareThresholdMin = 2
/** decision: people who each keep one. */
export const sharesMax = 20
/** decision: wrong ones in a row from those who reach the listener for health and metrics. */
export const wrongSharesMax = 10
/** Of a share as it is typed. */
export const shareTextBytesMax = 512
/** Longer than the head and the body of a request that brings a share. */
export const coverBytes = 64 * 1_024

// Backups
/** decision: of a backup; each is sealed and opened as a whole. */
export const backupChunkBytes = 1024 * 1024
export const backupManifestBytesMax = 4 * 1024
/**
 * decision: how far the name of a backup and its own instant are apart at most, which are of one
 * clock: what makes it has to begin.
 */
export const backupNameMsMax = 3_600_000

/** decision: the path of a copy that a command makes. Source: Linux, PATH_MAX. */
export const copyNoteBytesMax = 4 * 1024 + 1

// Files that are handed to commands
/** decision: until somebody writes to a pipe. */
export const pipeWriterMsMax = 5_000
/** decision: until more comes of who writes to one, such as a program that asks a person. */
export const pipeSilenceMsMax = 60_000
/** decision: tokens that stand for a password are the longest, of one or two kilobytes. */
export const passwordFileBytesMax = 16 * 1024
/** decision: of `format` and `store/database` in a data folder. */
export const folderFileBytesMax = 16 * 1024

// Asking a vault
/** decision: an API key and the end of its line, with room for blanks. */
export const apiKeyFileBytesMax = 1_024
/** decision: what `coffer token` reads from standard input: the longest token, written widely. */
export const inputBytesMax = 4 * 1024 ** 2

// Imports, exports, bulk deletions and reindexing
/** decision: of one row; a vault takes a body of 1 MiB, and a row of CSV may be quoted twice. */
export const importRecordBytesMax = 2 * 1024 * 1024
export const importReadBytes = 256 * 1024
/** decision: rows of one request; what the vault keeps of it stays below 1.5 MB. */
export const importBatchRows = 500
/** decision: characters of one request; the vault takes 1 MiB unless it is set otherwise. */
export const importBatchCharsMax = 400_000
/** decision: how often a request is sent again while the vault is busy or away. */
export const importRetries = 12
/** decision: a vault knows an idempotency key for 24 hours; an hour is left for a slow clock. */
export const importKnownMs = 23 * 60 * 60 * 1_000
export const importIdBytes = 16
/** decision: reasons that are told at the terminal where there is no report. */
export const importReasonsShownMax = 20
export const mapFileBytesMax = 256 * 1024
export const identityFileBytesMax = 64 * 1024
export const stateFileBytesMax = 64 * 1024
/** decision: how often it is told how far bulk work is. */
export const bulkToldMs = 2_000
/** decision: tokens that one command changes at a time, as a client deletes them. */
export const reindexedAtOnce = 8
/** decision: of the tokens that were refused for one reason, those that are named. */
export const reindexExamplesMax = 10

// Connections
/** The server looks at its connections every 4 s, and may end one that much earlier. */
export const keepAliveSlackSeconds = 5
/**
 * decision: from the last connection that is accepted to the end of those that are idle: a request
 * that is on its way on a new one comes within it.
 */
export const drainSettleMs = 300
/** Turns of the runtime, until its poll knows a socket. */
export const adoptionTriesMax = 1_000

// The end of a process
export const drainMsMax = 10_000
/** From a failed commit to the end of the process: time for the answers under way to leave. */
export const haltMs = 100
export const storeCloseMsMax = 5_000

// Certificates
/**
 * decision: what certificates are read anew in: so long a listener asks its callers to come to the
 * next one, and so long it then takes no connection but lets those come through that are half made.
 */
export const listenerCloseMs = 300
export const listenerSettleMs = 300
/** decision: of certificates, of a key and of what others' certificates are checked by. */
export const tlsFileBytesMax = 1024 * 1024
/** decision: certificates that a machine renews are renewed earlier. */
export const certificateEndsSoonMs = 14 * 24 * 60 * 60 * 1_000
/** Source: NIST SP 800-131A revision 2, section 3: keys of RSA below are not to be used. */
export const rsaBitsMin = 2_048

// Workers
/** decision: from one worker to the next, so that most of them take new connections at once. */
export const workerReloadMs = listenerCloseMs + listenerSettleMs + 100
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

// The clock
/** decision: a clock that is corrected moves by less, a wrong one by more (`clock.ts`). */
export const clockStepMsMax = 60_000
/** decision: how long a clock that jumped ahead must stand before anything is destroyed by it. */
export const clockHoldMs = 60 * 60 * 1_000
/** decision: the same of a start after downtime. What is due leaves within 60 s of it. */
export const clockStartHoldMs = 20_000
/** decision: how far ahead the clock is written, so that it is written about as rarely. */
export const clockLeaseMs = 250
/** decision: of the file of the clock; more than any instant takes, so that more is damage. */
export const clockFileBytesMax = 64

// The data folder
/** decision: what writes leave free on the disk, so that removing goes on (hardening L11). */
export const freeSpaceBytesMin = 64 * 1024 * 1024
export const mapBytes = 64 * 1024 ** 3
/** decision: what a process needs beside that map, once it has started. */
export const addressSpaceSpareBytes = 1024 ** 3
/** decision: so long may the processes of a killed instance take to be gone. */
export const lockWaitMsMax = 1_000
export const lockPollMs = 5
/** decision: how often the holder of a data folder looks whether the folder is still its own. */
export const folderLookMs = 500
/** As many as Linux follows on one way (path_resolution(7)). */
export const symbolicLinksMax = 40

// Commands
export const configFileBytesMax = 64 * 1024
/** decision: of rules for an application, within `controlBodyBytesMax`. */
export const rulesFileBytesMax = 48 * 1024
/** decision: of one installation, as far as commands look at all of them. */
export const tenantsMax = 1_000
/** decision: of one walk, as told to a person; more of them say no more. */
export const findingsShownMax = 100
