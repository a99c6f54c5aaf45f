/**
 * Deadlines of progress for a service that may fall silent, or drip: what moves goes on for as long
 * as it takes, and what does not ends.
 * @module
 */

/** Bytes that have to move in each stretch of time. */
export interface Pace {
  readonly stretchMs: number
  readonly bytesMin: number
}

/**
 * Waits for an answer.
 * @throws the error of `late` once the time is over; the work is then left to itself
 */
export async function within<T>(work: Promise<T>, msMax: number, late: () => Error): Promise<T> {
  const over = Promise.withResolvers<never>()
  const timer = setTimeout(() => over.reject(late()), msMax)
  try {
    return await Promise.race([work, over.promise])
  } finally {
    clearTimeout(timer)
    // Abandoned work may fail later, when nobody awaits it.
    work.catch(() => {})
  }
}

/**
 * Does work that tells how many bytes have moved.
 * @throws the error of `late` after a stretch in which too few have; the work is left to itself
 */
export async function atPace<T>(
  { stretchMs, bytesMin }: Pace,
  late: () => Error,
  task: (moved: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  let bytes = 0
  const over = Promise.withResolvers<never>()
  const timer = setInterval(() => {
    if (bytes < bytesMin) over.reject(late())
    bytes = 0
  }, stretchMs)
  const work = task(some => void (bytes += some))
  try {
    return await Promise.race([work, over.promise])
  } finally {
    clearInterval(timer)
    work.catch(() => {})
  }
}
