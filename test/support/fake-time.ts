/**
 * Processes whose wall clock a test moves while they run, by libfaketime (hardening D6). Their
 * monotonic clock stays right.
 * @module
 */
import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const librariesFolder = '/usr/lib'
const libraryName = 'faketime/libfaketimeMT.so.1'

/** `undefined` if it is not installed; the Debian package is `faketime`. */
export const fakeTimeLibrary: string | undefined = (
  existsSync(librariesFolder) ? readdirSync(librariesFolder) : []
)
  .map(name => join(librariesFolder, name, libraryName))
  .find(path => existsSync(path))

export const fakeTimeMissing = 'libfaketime is not installed: see the package faketime'

export interface FakeTime {
  /** Environment of each process that is to have this wall. */
  readonly env: Readonly<Record<string, string>>
  /** Sets the wall that far ahead of the right time, also of running processes. */
  set(aheadMs: number): void
}

/** @param folder of its own, for the file with the offset */
export function fakeTime(folder: string): FakeTime {
  const file = join(folder, 'wall')
  const set = (aheadMs: number) => {
    // Renamed into place: no process may read half of it.
    writeFileSync(`${file}.new`, `${aheadMs < 0 ? '' : '+'}${aheadMs / 1_000}\n`)
    renameSync(`${file}.new`, file)
  }
  set(0)
  const env = {
    LD_PRELOAD: fakeTimeLibrary ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  return { env, set }
}
