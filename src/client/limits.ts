/**
 * Bounds of the client, which is bundled without the server's.
 * @module
 */

/** Bound of one attempt; a write that waits longer for a database is sent again. */
export const attemptMsDefault = 30_000
export const retriesDefault = 3
/** Maximum of timers on all platforms. */
export const timeoutMsMax = 2 ** 31 - 1
/** The first retry waits anything up to this; the bound doubles from there. */
export const waitMsFirst = 100
export const waitMsMax = 5_000
/** If a vault asks for a longer wait, there is no retry. */
export const retryAfterMsMax = 30_000
/** Bound of one answer: a page of the longest tokens, far above all else. */
export const answerBytesMax = 128 * 1024 ** 2
export const pageSizeMax = 100
/** Most that a vault lets a page of events wait; well below the bound of an attempt. */
export const feedWaitSeconds = 20
/** decision: 128 bits, about as many as a UUID has. */
export const idempotencyKeyBytes = 16
/** decision: deletions of `deleteMany` in flight at once. */
export const deletionsAtOnce = 8
/** Most values of one `POST /tokenize`. */
export const bulkLeavesMax = 1_000
/** decision: values of one request of `tokenizeEach`, of 2 KB each where all fit a body. */
export const chunkSizeDefault = 500
