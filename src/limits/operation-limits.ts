/**
 * Bounds of running a vault: those its operator meets, in addition to those of its callers. Bounds
 * of settings are in `setting-limits.ts`.
 *
 * As in `limits.ts`, each has a name and a unit, and names its source.
 * @module
 */

// Progress
/** decision: a smaller file is done within a second or two. */
export const progressFileBytesMin = 64 * 1024 * 1024
/** decision: interval of updates of a bar, and of lines. */
export const progressDrawMs = 100
export const progressLineMs = 1_000
export const progressBarChars = 40

// Questions at a terminal
/** decision: room for a yes or a no, and for mistyped text. */
export const answerBytesMax = 64

// Backups of a server
/** decision: delay after a failed backup, doubled each time up to the interval. */
export const backupRetryMsMin = 5_000
/** decision: a backup that takes longer than this, and than the interval, hangs. */
export const backupTurnMsMin = 60 * 60 * 1_000
/** decision: intervals by which a backup may be late before the vault is not ready. */
export const backupLateIntervalsMax = 2
/** decision: parts of an upload; each is kept in memory, and resent if it was lost. */
export const uploadPartBytes = 8 * 1024 * 1024
export const uploadTriesMax = 3
/** decision: a hundred pages of a list; something other than a bucket might list forever. */
export const bucketEntriesMax = 100_000
/** decision: memory for answers of a bucket; more than parts and pages take. */
export const bucketMemoryBytesMax = 256 * 1024 * 1024
/** Interval of checking it, in which some 100 MB may arrive. */
export const bucketMemoryLookMs = 50
/** decision: time for a short answer, such as a page of a list, or one part of an upload. */
export const bucketAnswerMsMax = 60_000
export const bucketPartMsMax = 300_000
/** decision: bytes of a file that come in each stretch of time; a slower service is given up. */
export const bucketPace = { stretchMs: 60_000, bytesMin: 64 * 1024 }
/** decision: time for one small object, such as a checkpoint, to be sent and answered. */
export const bucketPutMsMax = 30_000

// The list of erasures
/** decision: delay before a line that could not be written is retried. */
export const erasureRetryMs = 5_000
/** decision: one line; an id has at most 400 characters. */
export const erasureLineBytesMax = 8_192
/** decision: lines per write to the vault being restored. */
export const erasureBatchLines = 1_000

// Metrics
/** decision: from the usual time of a read to the longest that a body may take. */
export const latencyBucketsSeconds = [
  0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
  10, 30,
]

/** decision: interval of samples of the last hour, which a person sees move. */
export const historyEveryMs = 10_000
/** decision: samples of one hour, some 200 bytes each. */
export const historySamplesMax = 360

/** decision: interval of checks of the event loop; shorter stalls are seen only sometimes. */
export const loopLookMs = 500
/** decision: two scrapes at the usual interval see the same worst value. */
export const loopWindowMs = 30_000
/** decision: time for a worker to answer a health check; after a longer silence it hangs. */
export const workerAnswerMsMax = 5_000
/** decision: time for a report of all workers, one of which may be silent. */
export const reportAnswerMsMax = 2 * workerAnswerMsMax
/** decision: interval at which a worker checks for the key that it asked for. */
export const keyLookMs = 5

// Throw-away vaults
/** decision: interval of checks that the program that started it still runs. */
export const parentCheckMs = 1_000
/** decision: the folder of another one is younger while it is not locked yet. */
export const throwAwayAgeMsMin = 60_000

// Log
/** decision: ids per command that prints digests. */
export const digestedIdsMax = 1_000
/** decision: interval of checks for logged states that began or ended. */
export const stateLookMs = 1_000
/** decision: time for which lines wait to be written with others; a kill loses them. */
export const logFlushMs = 100
/**
 * Largest write that a pipe takes whole, so that lines of several processes do not mix: POSIX
 * PIPE_BUF on Linux (pipe(7)).
 */
export const logSharedWriteBytes = 4_096
/** decision: one write without other writers; more bytes do not wait. */
export const logBatchBytes = 64 * 1024
/** decision: delay before a full pipe is retried. */
export const logRetryMs = 10
/** decision: lines waiting to be written; further ones are dropped, and counted. */
export const logBufferBytesMax = 1024 * 1024
/** decision: time for waiting lines at the end of a process. */
export const logEndMsMax = 1_000

// Keys and the control socket
/**
 * decision: data keys in a keyring; more must be retired first. With the bound below, a keyring
 * fits in a page of the engine, with no separate pages.
 */
export const dataKeysMax = 4
/**
 * decision: time for which a process keeps a deleted key, for requests that read a row before; far
 * longer than any takes from reading a row to opening it.
 */
export const retiredKeyMs = 60_000
/** decision: earlier keyrings searched for in the files; more must be scrubbed first. */
export const replacedKeyringsMax = 4
/** decision: the group file; longer ones are kept elsewhere. */
export const groupFileBytesMax = 1024 ** 2
/** Unix sockets have shorter paths than files: `sun_path` of unix(7), without its final NUL. */
export const socketPathBytesMax = 107
/** decision: one message on the control socket. */
export const controlBodyBytesMax = 65_536
/**
 * decision: time for which a command waits for an immediate answer of a server; longer than the
 * wait for an unresponsive database (`databaseReadMsMax`).
 */
export const controlWaitMs = 8_000
/** decision: time without a message after which a command no longer waits for other answers. */
export const controlSilenceMsMax = 900_000
/** decision: one message of an answer; a list of all applications is far shorter. */
export const controlMessageBytesMax = 64 * 1024 ** 2
/** decision: a failure that is told on the control socket. */
export const controlFailureCharsMax = 4_096
/** decision: random numbers waiting to be used in proofs; older ones are forgotten. */
export const challengesMax = 64
/** decision: rows resealed in one commit; with 15, the p99 of reads was 2.5 × idle. */
export const resealBatchRows = 2
/** decision: the same without other work on the store: a commit of 2 costs a flush for each 2. */
export const resealAloneRows = 200
/** decision: rest for others after a commit, as a multiple of its time, if there are others. */
export const resealRest = 2
/** decision: rows checked in one go for the key that sealed them. */
export const resealScanRows = 500
/**
 * decision: bytes of the store's file searched at once for removed values. Requests wait meanwhile:
 * 1 MiB took 5 ms, in each turn of a request that has several.
 */
export const scrubChunkBytes = 131_072
/** decision: rest after each such piece, in milliseconds: about as long as it took. */
export const scrubRestMs = 1
/** decision: searches for earlier keyrings, until one finds none. */
export const scrubLooksMax = 10

// Master keys
/** decision: RFC 9106 section 4 would use 2 GiB if available; this takes 0.6 s. */
export const passphrasePasses = 3
export const passphraseMemoryBytes = 256 * 1024 ** 2
/** decision: costs allowed in a file that someone else may have written. */
export const passphrasePassesMax = 16
export const passphraseMemoryBytesMax = 2 * 1024 ** 3
/** decision: a new passphrase: a thief of the folder has unlimited time to guess it. */
export const passphraseBytesMin = 12
export const passphraseBytesMax = 1_024
export const passphraseFileBytesMax = 1_024
export const shareThresholdMin = 2
/** decision: people who each keep one share. */
export const sharesMax = 20
/** decision: wrong shares in a row from clients of the listener for health and metrics. */
export const wrongSharesMax = 10
/** Longest share that may be typed. */
export const shareTextBytesMax = 512
/** Longer than the head and the body of a request that brings a share. */
export const coverBytes = 64 * 1_024

// Backups
/** decision: chunk of a backup; each is sealed and opened as a whole. */
export const backupChunkBytes = 1024 * 1024
export const backupManifestBytesMax = 4 * 1024
/**
 * decision: longest time between the instant in the name of a backup and its own, both by one
 * clock: the process that makes it has to start.
 */
export const backupNameMsMax = 3_600_000

/** decision: path of a copy that a command makes. Source: Linux, PATH_MAX. */
export const copyNoteBytesMax = 4 * 1024 + 1

// Files that are handed to commands
/** decision: wait for a writer to open a pipe. */
export const pipeWriterMsMax = 5_000
/** decision: wait for more from the writer of a pipe, such as a program that asks a person. */
export const pipeSilenceMsMax = 60_000
/** decision: tokens used as passwords are the longest, at one or two kilobytes. */
export const passwordFileBytesMax = 16 * 1024
/** decision: `format` and `store/database` in a data folder. */
export const folderFileBytesMax = 16 * 1024

// Asking a vault
/** decision: an API key and its line end, with room for blanks. */
export const apiKeyFileBytesMax = 1_024
/** decision: standard input of `coffer token`: the longest token, with generous formatting. */
export const inputBytesMax = 4 * 1024 ** 2
/** decision: rows of a list, and their characters, that are held for the widths of its columns. */
export const tableRowsHeld = 1_000
export const tableCharsHeld = 4 * 1024 ** 2
/** decision: applications of one review, as entries of a bucket; a few requests for each. */
export const reviewedApplicationsMax = 100_000
/** decision: characters of the rows that one review holds: some 200 for each. */
export const reviewCharsMax = 64 * 1024 ** 2
/** decision: tokens of one walk, whatever number the vault tells; it takes hours. */
export const walkedTokensMax = 1_000_000_000
/** decision: tokens that may be made between counting them and the begin of a walk. */
export const walkedTokensSpare = 100_000
/** decision: characters of types and containers that one count holds: millions of containers. */
export const countedCharsMax = 256 * 1024 ** 2

// Imports, exports, bulk deletions and reindexing
/** decision: one row; a vault takes a body of 1 MiB, and a row of CSV may be quoted twice. */
export const importRecordBytesMax = 2 * 1024 * 1024
export const importReadBytes = 256 * 1024
/** decision: rows per request; the vault's stored result stays below 1.5 MB. */
export const importBatchRows = 500
/** decision: characters per request; the vault takes 1 MiB by default. */
export const importBatchCharsMax = 400_000
/** decision: retries of a request while the vault is busy or away. */
export const importRetries = 12
/** decision: a vault keeps an idempotency key for 24 hours; an hour is left for a slow clock. */
export const importKnownMs = 23 * 60 * 60 * 1_000
export const importIdBytes = 16
/** decision: characters of the ids that one deletion holds: 7 million that nobody chose. */
export const deletedIdCharsMax = 256 * 1024 ** 2
/** decision: reasons shown at the terminal if there is no report. */
export const importReasonsShownMax = 20
export const mapFileBytesMax = 256 * 1024
export const identityFileBytesMax = 64 * 1024
/** decision: the header of an age file, of 600 recipients at most; each costs a multiplication. */
export const ageHeaderBytesMax = 64 * 1024
/** decision: recipients of an export, whose header an import takes. */
export const ageRecipientsMax = 500
export const stateFileBytesMax = 64 * 1024
/** decision: interval of progress reports of bulk work. */
export const bulkToldMs = 2_000
/** decision: tokens that one command changes at a time, as when a client deletes them. */
export const reindexedAtOnce = 8
/** decision: tokens named per reason for refusal. */
export const reindexExamplesMax = 10

// Connections
/** The server checks its connections every 4 s, and may close one that much earlier. */
export const keepAliveSlackSeconds = 5
/**
 * decision: time between the last accepted connection and the end of idle ones: long enough for a
 * request on its way on a new one.
 */
export const drainSettleMs = 300
/** decision: a worker waits behind the others for connections again after so long at least. */
export const acceptTurnMs = 1
/** Turns of the runtime until its poll knows a socket. */
export const adoptionTriesMax = 1_000

// The end of a process
export const drainMsMax = 10_000
/** From a failed commit to the end of the process: time to send the answers in progress. */
export const haltMs = 100
export const storeCloseMsMax = 5_000

// Certificates
/** decision: certificates, a key, and CA files for checking others' certificates. */
export const tlsFileBytesMax = 1024 * 1024
/** decision: automatically renewed certificates are renewed earlier. */
export const certificateEndsSoonMs = 14 * 24 * 60 * 60 * 1_000
/** Source: NIST SP 800-131A revision 2, section 3: smaller RSA keys must not be used. */
export const rsaBitsMin = 2_048

// Workers
/** decision: time for a worker to end by itself; then it is killed. */
export const workerStopMsMax = drainMsMax + storeCloseMsMax + 1_000
/** decision: delay before an ended worker is restarted, doubled each time. */
export const workerRestartMsMin = 100
export const workerRestartMsMax = 5_000
/** decision: time for a worker to start listening; after that it hangs, and is replaced. */
export const workerReadyMsMax = 60_000
/** decision: a worker that ran this long was healthy, so its next restart is immediate again. */
export const workerSteadyMs = 60_000
/** decision: failed starts in a row; of a worker that never listened, they end the instance. */
export const workerStartsMax = 5

// The clock
/** decision: a clock that is corrected moves by less, a wrong one by more (`clock.ts`). */
export const clockStepMsMax = 60_000
/** decision: time a clock that jumped ahead must stay there before deletions rely on it. */
export const clockHoldMs = 60 * 60 * 1_000
/** decision: the same for a start after downtime. Due tokens leave within 60 s of it. */
export const clockStartHoldMs = 20_000
/** decision: lead with which the clock is written, so that it is written only about that often. */
export const clockLeaseMs = 250
/** decision: the clock file; longer than any instant, so a larger file is damage. */
export const clockFileBytesMax = 64

// The data folder
/** decision: disk space that writes leave free, so that removing still works (hardening L11). */
export const freeSpaceBytesMin = 64 * 1024 * 1024
export const mapBytes = 64 * 1024 ** 3
/**
 * decision: length that a process may give a file, and growth of one that is known: the engine maps
 * a file of locks of 64 KiB, and a commit copies some pages.
 */
export const fileSpareBytes = 1024 ** 2
/** decision: memory of a started process in addition to that map. */
export const addressSpaceSpareBytes = 1024 ** 3
/** decision: time for the processes of a killed instance to disappear. */
export const lockWaitMsMax = 1_000
export const lockPollMs = 5
/** decision: interval at which the holder of a data folder checks that it is still its own. */
export const folderLookMs = 500
/** As many as Linux follows in one path (path_resolution(7)). */
export const symbolicLinksMax = 40

// Commands
export const configFileBytesMax = 64 * 1024
/** decision: rules for an application, within `controlBodyBytesMax`. */
export const rulesFileBytesMax = 48 * 1024
/** decision: tenants of one installation, for commands that list all of them. */
export const tenantsMax = 1_000
/** decision: findings of one walk shown to a person; more would not help. */
export const findingsShownMax = 100

// The audit log
/** Entries of one log: a sequence is a u48. */
export const auditEntriesMax = 2 ** 48 - 1
/** decision: a signed note; the verifier of Go's module database reads as much. */
export const noteCharsMax = 1_000_000
/** decision: as that verifier; the specification requires 16. */
export const noteSignaturesMax = 100

// Witnesses of the audit log
/** Source: C2SP tlog-witness, "add-checkpoint". */
export const witnessProofHashesMax = 63
/** decision: with the line of the witness, a note is still one that `--pinned` takes. */
export const witnessRequestBytesMax = 60 * 1_024
/** decision: a request and what it waits for. */
export const witnessIdleSeconds = 10
/** decision: time in which equal answers of a witness about one log share a line. */
export const witnessTellMs = 10_000
/** decision: as often as copies of checkpoints; a witness of others is not to be burdened. */
export const witnessEveryMs = 60_000

// Reading the audit log
/** decision: interval at which a reader looks for new entries. */
export const auditFollowMs = 250
export const auditTailMax = 100_000
/** decision: least time between two checkpoints that are sent away from the machine. */
export const checkpointCopyMs = 60_000
/** decision: share of what the audit log may take from which `doctor` warns. */
export const logBudgetWarnShare = 0.8
/** decision: entries behind which `doctor` tells of a webhook. */
export const webhookBehindEntries = 10_000
/** decision: a line of an export; the last one has a checkpoint for each hour of years. */
export const exportLineCharsMax = 64 * 1_024 * 1_024
/** decision: of an export, read at once. */
export const exportReadBytes = 64 * 1_024
/** decision: checkpoints in a bucket that are compared with a log: ten weeks of one a minute. */
export const keptCheckpointsMax = 100_000
/** decision: those that are read at once; an answer takes some 20 ms. */
export const keptReadsAtOnce = 32
/** decision: a checkpoint with many signatures. */
export const pinnedNoteBytesMax = 64 * 1_024
