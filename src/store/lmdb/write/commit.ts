/**
 * One transaction of the engine: on disk when its promise resolves.
 *
 * The engine refuses a commit now and then while it saves its list of free pages, as it reads more
 * of that list amid a change of the table that holds it (lmdb-js#321). Nothing refers to what it
 * has written by then, if it has written at all. The same once more would mostly ask for the same
 * pages and be refused again; behind a commit that moves a page or two it mostly is not.
 * @module
 */
import { setTimeout } from 'node:timers/promises'
import { commitCauseMsMax, commitTriesMax } from '../../../limits.ts'
import type { Environment } from '../environment.ts'
import { rewriteMeta } from '../meta.ts'

/** `MDB_NOTFOUND` and `MDB_BAD_VALSIZE`, of a commit. Source: lmdb.h */
const refusals: readonly unknown[] = [-30_798, -30_781]
/**
 * `MDB_BAD_TXN` is that as well with these words. With others it can be damage that the engine has
 * found, or a put that it could not do.
 */
const refusedTransaction = -30_782
const refusedTransactionText = 'reserved freelist'

/**
 * The engine tells the cause of a failed commit by another promise, which may never settle
 * (hardening L8).
 */
export async function causeOf(error: unknown): Promise<unknown> {
  const told = error instanceof Error && 'commitError' in error ? error.commitError : undefined
  if (!(told instanceof Promise)) return error
  const cause = told.then(
    () => error,
    (reason: unknown) => reason,
  )
  return Promise.race([cause, setTimeout(commitCauseMsMax, error)])
}

async function isRefusal(error: unknown): Promise<boolean> {
  const cause = await causeOf(error)
  if (cause === error || !(cause instanceof Error) || !('code' in cause)) return false
  const isOfList = cause.message.includes(refusedTransactionText)
  return refusals.includes(cause.code) || (cause.code === refusedTransaction && isOfList)
}

/**
 * A failed commit rejects one more promise, which the engine makes by an immediate of its own and
 * nobody else would catch: this one comes after that.
 */
function begin<T>({ root }: Environment, body: () => T): Promise<T> {
  const nothing = () => {}
  const ended = root.transaction(body)
  setImmediate(() => void root.committed.then(nothing, nothing))
  return ended
}

/**
 * @param body decides and puts; it is run again where the engine refused the commit, and not where
 *   it has thrown: the engine tells only that such a transaction is broken
 * @throws Error of the engine: whether it is on disk is not known
 */
export async function commit<T>(environment: Environment, body: () => T): Promise<T> {
  let hasThrown = false
  const run = (): T => {
    hasThrown = true
    const result = body()
    hasThrown = false
    return result
  }
  for (let tries = 1; ; tries += 1) {
    try {
      return await begin(environment, run)
    } catch (error) {
      if (!(await isRefusal(error)) || hasThrown || tries >= commitTriesMax) throw error
    }
    await begin(environment, () => rewriteMeta(environment))
  }
}
