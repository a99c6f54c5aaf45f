/**
 * Readers of a file that another process writes: pages that were freed are used again, though a
 * reader waits for its own reader, or was killed.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { readerLookCommits } from '../../src/store/core/limits.ts'
import { openEnvironment, readerListOf } from '../../src/store/lmdb/environment.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { temporaryFolder } from '../support/folders.ts'
import { logOf, written } from './rows.ts'

const program = join(import.meta.dir, '..', 'support', 'hold-log-read.ts')

/** Starts the program, and waits until it waits. */
async function hold(path: string, ...more: readonly string[]) {
  const child = Bun.spawn([process.execPath, program, path, ...more], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const { value } = await child.stdout.getReader().read()
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await child.exited
  }
  const said = new TextDecoder().decode(value)
  return { pid: child.pid, said, kill, [Symbol.asyncDispose]: kill }
}

async function openStore() {
  const path = temporaryFolder()
  // Opened once: the engine drops dead readers as it opens a file.
  const { root } = openEnvironment(path)
  const store = await openLmdbStore({ path, processes: 2 })
  await written(store, logOf(1))
  /** Returns the commit that a process reads, `-` for none, or nothing where it is not listed. */
  const readBy = ({ pid }: { readonly pid: number }): string | undefined => {
    const line = new RegExp(`^\\s*${pid}\\s+\\S+\\s+(\\d+|-)$`, 'm')
    return line.exec(readerListOf(root))?.[1]
  }
  const writeOn = async (): Promise<void> => {
    for (let commit = 0; commit < readerLookCommits; commit += 1)
      await written(store, logOf(commit))
  }
  const close = async (): Promise<void> => {
    await store.close()
    await root.close()
  }
  return { path, readBy, writeOn, [Symbol.asyncDispose]: close }
}

// proves E32.1
describe('a reader of the log', () => {
  test('that waits after a read holds no state', async () => {
    await using store = await openStore()
    await using reader = await hold(store.path)
    expect(reader.said).toBe('1 bundles\n')
    expect(store.readBy(reader)).toBe('-')
  })

  test('that reads once more finds what has come since', async () => {
    await using store = await openStore()
    const reader = await openLmdbStore({ path: store.path, readOnly: true, processes: 2 })
    const before = await reader.bundles({ from: 0 }, 10)
    await store.writeOn()
    const after = await reader.bundles({ from: 0 }, 10)
    expect([before.length, after.length]).toEqual([1, 10])
    await reader.close()
  })

  test('that is killed amid a read holds none soon after, and one that lives does', async () => {
    await using store = await openStore()
    await using reader = await hold(store.path, 'amid')
    expect(reader.said).toBe('amid a read\n')
    await store.writeOn()
    expect(store.readBy(reader)).toMatch(/^\d+$/)
    await reader.kill()
    await store.writeOn()
    expect(store.readBy(reader) ?? '-').toBe('-')
  })
})
