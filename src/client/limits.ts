/**
 * The bounds of the client, which is bundled without the server's.
 * @module
 */

/** Of one attempt; a write that waits for a database may take longer, and is sent again. */
export const attemptMsDefault = 30_000
export const retriesDefault = 3
/** What timers of all platforms take. */
export const timeoutMsMax = 2 ** 31 - 1
/** The first wait before another attempt is anything up to this, and doubles from there. */
export const waitMsFirst = 100
export const waitMsMax = 5_000
/** A vault that asks for a longer wait is not asked again. */
export const retryAfterMsMax = 30_000
/** Of one answer: a page of the longest tokens, and more than enough of everything else. */
export const answerBytesMax = 128 * 1024 ** 2
export const pageSizeMax = 100
/** decision: 128 bits, as an UUID has them nearly. */
export const idempotencyKeyBytes = 16
/** decision: deletions of `deleteMany` that are under way at once. */
export const deletionsAtOnce = 8
/** What `POST /tokenize` takes at once. */
export const bulkLeavesMax = 1_000
/** decision: values of one request of `tokenizeEach`, of 2 KB each where all fit a body. */
export const chunkSizeDefault = 500
