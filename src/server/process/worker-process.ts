/**
 * A worker as its parent has it: a process of the same program, with an order on its stdin.
 *
 * @module
 */
import type { Facts } from '../../vault/operator/operator-operation.ts'
import { makeAsker, type AskWorker } from './worker-channel.ts'
import { ownProgram } from './own-program.ts'
import { elapsedMs } from './system.ts'
import type { WorkerOrder } from './worker.ts'

/** How a process has ended: by its exit code, or by a signal. */
export type WorkerEnd = { readonly exitCode: number } | { readonly signal: string }

export interface WorkerProcess {
  readonly index: number
  /** Whether it listens; `false` when it ended before. */
  readonly isReady: Promise<boolean>
  readonly ended: Promise<WorkerEnd>
  /** Since it last said anything, from its start on. */
  readonly silentMs: () => number
  /** What it tells, once it listens. */
  readonly ask: AskWorker
  signal(signal: NodeJS.Signals): void
}

/**
 * @param files open files, which the worker has as long as it lives: its `handedLock`, and its
 *   `handedListener` where the order says so
 * @param all what is so of all of them, which a worker asks for
 */
export function startWorker(
  index: number,
  order: WorkerOrder,
  files: readonly number[],
  all: () => Facts,
): WorkerProcess {
  let heardMs = elapsedMs()
  const child = Bun.spawn([...ownProgram(), 'worker', String(index)], {
    argv0: 'coffer',
    stdio: ['pipe', 'pipe', 'inherit', ...files],
  })
  const send = (line: string): void => {
    child.stdin.write(`${line}\n`)
    child.stdin.flush()
  }
  send(JSON.stringify(order))
  const { isReady, ask } = makeAsker(child.stdout, {
    send,
    heard() {
      heardMs = elapsedMs()
    },
    all,
  })
  return {
    index,
    isReady,
    silentMs: () => elapsedMs() - heardMs,
    ask,
    ended: child.exited.then(exitCode =>
      child.signalCode === null ? { exitCode } : { signal: String(child.signalCode) },
    ),
    signal: signal => child.kill(signal),
  }
}
