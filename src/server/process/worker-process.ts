/**
 * A worker as its parent has it: a process of the same program, with an order on its stdin.
 *
 * @module
 */
import { closeSync, writeSync } from 'node:fs'
import { handedFiles, makeAsker, type AskWorker, type Operate } from './worker-channel.ts'
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
  /** What it does, once it listens. */
  readonly operate: Operate
  /** Hands a key to one that listens, which it reads where a question says so. */
  hand(key: Uint8Array): void
  signal(signal: NodeJS.Signals): void
}

/** What a worker has as long as it lives, by its number there. */
export interface WorkerFiles {
  readonly lock: number
  readonly listener: number | undefined
}

/**
 * A key goes over a pair of sockets without a name: no other process can open one of them, and
 * nothing of it is in an argument, a variable or a file.
 * @param key handed to it once it asks, where its order says so: others may look into a process
 *   that has only begun
 */
export function startWorker(
  index: number,
  order: WorkerOrder,
  { lock, listener }: WorkerFiles,
  key?: Uint8Array,
): WorkerProcess {
  let heardMs = elapsedMs()
  const child = Bun.spawn([...ownProgram(), 'worker', String(index)], {
    argv0: 'coffer',
    stdio: ['pipe', 'pipe', 'inherit', lock, 'pipe', ...(listener === undefined ? [] : [listener])],
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
      // It is ending: the next one to ask it is told.
    }
  }
  const { isReady, ask, operate } = makeAsker(child.stdout, send, {
    keyAsked() {
      if (key !== undefined) hand(key)
    },
    heard() {
      heardMs = elapsedMs()
    },
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
