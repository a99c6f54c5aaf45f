/**
 * What a serving process does beside requests: expired rows leave the disk, and the days on which
 * keys were used are written.
 *
 * @module
 */
import type { Deps } from './deps.ts'
import { sweep } from './expiry.ts'
import { keyUsesWriteMs, sweepIntervalMs } from './limits.ts'

/**
 * Runs a task now and then once an interval, never twice at a time; a failure is logged, and it is
 * tried again.
 * @param failed the event of the log
 * @returns stop
 */
function repeat(
  task: () => Promise<unknown>,
  everyMs: number,
  failed: string,
  { log }: Pick<Deps, 'log'>,
): () => void {
  let running = false
  let stopped = false
  async function run(): Promise<void> {
    if (running) return
    running = true
    try {
      await task()
    } catch {
      // One under way meets a closed store, which is how it ends.
      if (!stopped) log(failed)
    } finally {
      running = false
    }
  }
  void run()
  const timer = setInterval(() => void run(), everyMs)
  return () => {
    stopped = true
    clearInterval(timer)
  }
}

/**
 * Where another process sweeps, the clock is looked at as often: what the wall called expired for
 * so long is then hidden by all.
 * @param isSweeper of several processes that share a store, one is
 * @returns stop
 */
export const startSweeping = (deps: Deps, isSweeper: () => boolean = () => true): (() => void) =>
  repeat(
    async () => (isSweeper() ? sweep(deps) : deps.now()),
    sweepIntervalMs,
    'sweep_failed',
    deps,
  )

/**
 * @param write of the keys that were used in this process
 * @returns stop
 */
export const startWritingKeyUses = (deps: Deps, write: () => Promise<void>): (() => void) =>
  repeat(write, keyUsesWriteMs, 'key_uses_not_written', deps)
