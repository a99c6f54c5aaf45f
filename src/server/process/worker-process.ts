/**
 * A worker, seen from its parent: a process of the same program, with an order on its stdin.
 *
 * @module
 */
import { closeSync, writeSync } from 'node:fs'
import { handedFiles, makeAsker, type AskWorker, type Operate } from './worker-channel.ts'
import { ownProgram, elapsedMs } from './system.ts'
import type { WorkerOrder } from './worker.ts'
import type { Log, Reports } from '../../deps.ts'

/** Exit code or signal with which a process ended. */
export type WorkerEnd = { readonly exitCode: number } | { readonly signal: string }

export interface WorkerProcess {
  readonly index: number
  /** True once it listens; false if it ended before. */
  readonly isReady: Promise<boolean>
  readonly ended: Promise<WorkerEnd>
  /** Milliseconds since its last line, or since its start. */
  readonly silentMs: () => number
  /** Asks it questions, once it listens. */
  readonly ask: AskWorker
  /** Runs an operation in it, once it listens. */
  readonly operate: Operate
  /** Sends a key to a listening worker, which reads it when a question says so. */
  hand(key: Uint8Array): void
  signal(signal: NodeJS.Signals): void
}

/** Open files that a worker holds for its whole life. */
interface WorkerFiles {
  readonly lock: number
  readonly listener: number
}

/** Parts that the leading process gives a worker. */
export interface WorkerParts {
  readonly files: WorkerFiles
  /** Answers of `/status`; absent until they are made. */
  readonly reports: () => Reports | undefined
  readonly log: Log
}

/**
 * Starts a worker. Keys go over an unnamed socket pair: no other process can open it once the
 * worker is guarded, and no key is in an argument, a variable or a file.
 * @param key sent once the worker asks for it, if its order says so: a process that has only begun
 *   may still be inspected by others
 */
export function startWorker(
  index: number,
  order: WorkerOrder,
  { files: { lock, listener }, reports, log }: WorkerParts,
  key?: Uint8Array,
): WorkerProcess {
  let heardMs = elapsedMs()
  const child = Bun.spawn([...ownProgram(), 'worker', String(index)], {
    argv0: 'coffer',
    stdio: ['pipe', 'pipe', 'inherit', lock, 'pipe', listener],
  })
  const keys = Number(child.stdio[handedFiles.keys])
  const send = (line: string): void => {
    child.stdin.write(`${line}\n`)
    child.stdin.flush()
  }
  send(JSON.stringify(order))
  let hasEnded = false
  const hand = (handed: Uint8Array): void => {
    if (hasEnded) return
    try {
      writeSync(keys, handed)
    } catch {
      // It is ending: the next question will report that.
    }
  }
  const { isReady, ask, operate } = makeAsker(child.stdout, send, {
    keyAsked() {
      if (key !== undefined) hand(key)
    },
    heard() {
      heardMs = elapsedMs()
    },
    reports,
    log,
  })
  const ended = child.exited.then((exitCode): WorkerEnd => {
    hasEnded = true
    closeSync(keys)
    return child.signalCode === null ? { exitCode } : { signal: String(child.signalCode) }
  })
  return {
    index,
    isReady,
    silentMs: () => elapsedMs() - heardMs,
    ask,
    operate,
    ended,
    hand,
    signal: signal => child.kill(signal),
  }
}
