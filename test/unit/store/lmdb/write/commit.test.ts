/**
 * Retries of a commit. The engine refuses one so rarely that a stand-in does it here; the engine's
 * own refusals are in `test/slow/refused-commit.test.ts`.
 * @module
 */
import { expect, test } from 'bun:test'
import { commitTriesMax } from '../../../../../src/store/core/limits.ts'
import { commit } from '../../../../../src/store/lmdb/write/lmdb-commit.ts'
import type { LmdbEnvironment } from '../../../../../src/store/lmdb/environment.ts'

const refusedTransaction = -30_782
const failedDisk = 5

const failure = (code: number, text = 'reserved freelist had no entry'): Error => {
  const commitError = Promise.reject(Object.assign(new Error(text), { code }))
  commitError.catch(() => {})
  return Object.assign(new Error('Commit failed'), { commitError })
}

/** One whose commits fail as these codes say, in their order; then all succeed. */
function openFailing(codes: readonly (number | undefined)[]) {
  const done: string[] = []
  let count = 0
  const transaction = async <T>(body: () => T): Promise<T> => {
    const code = codes[count++]
    const result = body()
    if (code !== undefined) throw failure(code)
    return result
  }
  const root = { transaction, committed: Promise.resolve() }
  const meta = { putSync: (key: Uint8Array) => done.push(Buffer.from(key).toString()) }
  return { environment: { root, meta } as unknown as LmdbEnvironment, done }
}

const bodyOf = (done: string[]) => () => done.push('body')

test('a refused transaction is put again behind another commit', async () => {
  const { environment, done } = openFailing([refusedTransaction])
  expect(await commit(environment, bodyOf(done))).toBe(3)
  expect(done).toEqual(['body', 'format', 'body'])
})

test('a transaction that is refused each time is given up', async () => {
  const codes = Array.from({ length: 2 * commitTriesMax }, (_, at) =>
    at % 2 === 0 ? refusedTransaction : undefined,
  )
  const { environment, done } = openFailing(codes)
  await expect(commit(environment, bodyOf(done))).rejects.toThrow('Commit failed')
  expect(done.filter(what => what === 'body')).toHaveLength(commitTriesMax)
})

test('nothing is tried again where the disk failed', async () => {
  const { environment, done } = openFailing([failedDisk])
  await expect(commit(environment, bodyOf(done))).rejects.toThrow('Commit failed')
  expect(done).toEqual(['body'])
})

test('nothing is tried again where the commit in between fails', async () => {
  const { environment, done } = openFailing([refusedTransaction, failedDisk])
  await expect(commit(environment, bodyOf(done))).rejects.toThrow('Commit failed')
  expect(done).toEqual(['body', 'format'])
})

test('nothing is tried again where the engine has found damage', async () => {
  const { environment, done } = openFailing([])
  const refuse = () => {
    done.push('body')
    return Promise.reject(failure(refusedTransaction, 'freelist entry had bad entries'))
  }
  const transaction = (body: () => unknown) => Promise.resolve(body()).then(refuse)
  const failing = { ...environment, root: { ...environment.root, transaction } }
  await expect(commit(failing as unknown as LmdbEnvironment, () => 0)).rejects.toThrow(
    'Commit failed',
  )
  expect(done).toEqual(['body'])
})

test('nothing is tried again where the body has thrown, which breaks the transaction', async () => {
  const { environment, done } = openFailing([])
  const transaction = async (body: () => unknown) => {
    try {
      body()
    } catch {
      throw failure(refusedTransaction)
    }
  }
  const failing = { ...environment, root: { ...environment.root, transaction } }
  const refusePut = () => {
    done.push('body')
    throw new Error('refused put')
  }
  const committing = commit(failing as unknown as LmdbEnvironment, refusePut)
  await expect(committing).rejects.toThrow('Commit failed')
  expect(done).toEqual(['body'])
})
