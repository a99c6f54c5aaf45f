/**
 * One transaction of the engine: on disk when its promise resolves.
 *
 * The engine refuses a commit now and then while it saves its list of free pages, as it reads more
 * of that list amid a change of the table that holds it (lmdb-js#321). It has written no page by
 * then. The same once more would ask for the same pages and be refused again; behind a commit that
 * moves a page or two it is not.
 * @module
 */
import { setTimeout } from 'node:timers/promises'
import { commitCauseMsMax, commitTriesMax } from '../../limits.ts'
import type { Environment } from './environment.ts'
import { rewriteMeta } from './meta.ts'

/**
 * What it says then: `MDB_NOTFOUND`, `MDB_BAD_TXN`, `MDB_BAD_VALSIZE`. A disk that fails is told by
 * a number of the system, and nothing is tried again: the pages may or may not be there.
 * Source: lmdb.h
 */
const refusals: readonly unknown[] = [-30_798, -30_782, -30_781]

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
  // Without another cause the body itself has thrown.
  return (
    cause !== error && cause instanceof Error && 'code' in cause && refusals.includes(cause.code)
  )
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
 * @param body decides and puts; it is run again where the engine refused what it had put
 * @throws Error of the engine: whether it is on disk is not known, and it writes nothing more
 */
export async function commit<T>(
  environment: Environment,
  body: () => T,
  tries = commitTriesMax,
): Promise<T> {
  try {
    return await begin(environment, body)
  } catch (error) {
    if (tries <= 1 || !(await isRefusal(error))) throw error
  }
  await begin(environment, () => rewriteMeta(environment))
  return commit(environment, body, tries - 1)
}
