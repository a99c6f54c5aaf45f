/**
 * A worker as its parent has it: a process of the same program, with an order on its stdin.
 *
 * @module
 */
import { ownProgram } from './own-program.ts'
import type { WorkerOrder } from './worker.ts'

/** How a process has ended: by its exit code, or by a signal. */
export type WorkerEnd = { readonly exitCode: number } | { readonly signal: string }

export interface WorkerProcess {
  /** Whether it listens; `false` when it ended before. */
  readonly isReady: Promise<boolean>
  readonly ended: Promise<WorkerEnd>
  signal(signal: NodeJS.Signals): void
}

async function saysAnything(stream: ReadableStream<Uint8Array>): Promise<boolean> {
  const { done } = await stream.getReader().read()
  return !done
}

/** @param lockFile an open file, which the worker has as its `handedLock` as long as it lives */
export function startWorker(index: number, order: WorkerOrder, lockFile: number): WorkerProcess {
  const child = Bun.spawn([...ownProgram(), 'worker', String(index)], {
    argv0: 'coffer',
    stdio: [Buffer.from(JSON.stringify(order)), 'pipe', 'inherit', lockFile],
  })
  return {
    isReady: saysAnything(child.stdout),
    ended: child.exited.then(exitCode =>
      child.signalCode === null ? { exitCode } : { signal: String(child.signalCode) },
    ),
    signal: signal => child.kill(signal),
  }
}
