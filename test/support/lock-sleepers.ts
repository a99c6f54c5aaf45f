/**
 * Processes that sleep on a word of a lock file.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from './until.ts'

const script = join(import.meta.dir, 'lock-sleeper.ts')
const futexNumber = process.arch === 'x64' ? '202' : '98'

/** True if the process waits in futex(2), on a word shared between processes. */
function sleeps(pid: number): boolean {
  const [number, , operation] = readFileSync(`/proc/${pid}/syscall`, 'utf8').split(' ')
  return number === futexNumber && operation === '0x0'
}

/** @returns one that sleeps already */
export async function startSleeper(file: string, offset: number) {
  const child = Bun.spawn([process.execPath, script, file, String(offset)], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  await until(() => sleeps(child.pid))
  return child
}
