/**
 * A vault that ends and starts again, on its own port or on a socket that its manager holds.
 * @module
 */
import { join } from 'node:path'
import { startCoffer } from './coffer-process.ts'
import { temporaryFolder } from './folders.ts'
import { hear, startService } from './service-manager.ts'
import { until } from './until.ts'

type Line = Readonly<Record<string, unknown>>

interface Started {
  readonly pid: number
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>
  readonly stderr: Promise<string>
}

async function startOnSocket(words: readonly string[], listener: number): Promise<Started> {
  const notify = join(temporaryFolder(), 'notify')
  const told = hear(notify)
  const { child, stderr } = startService(words, { listener, notify })
  await until(() => {
    if (child.exitCode !== null) throw new Error(`coffer ended with ${child.exitCode}`)
    return told.messages().some(message => message.includes('READY=1'))
  })
  told.close()
  return {
    pid: child.pid,
    end(signal) {
      child.kill(signal)
      return child.exited
    },
    stderr,
  }
}

export interface RestartableVault {
  readonly pid: () => number
  readonly start: () => Promise<void>
  /** @throws Error if it did not end in order */
  readonly end: () => Promise<void>
  readonly kill: () => Promise<unknown>
  /** Log lines of requests, from processes that have ended. */
  readonly requestLines: () => readonly Line[]
}

/** @param listener the inherited socket; without it, a port is among the words */
export function makeRestartable(words: readonly string[], listener?: number): RestartableVault {
  let log = ''
  let running: Started | undefined
  return {
    pid: () => running?.pid ?? 0,
    async start() {
      running = await (listener === undefined ? startCoffer(words) : startOnSocket(words, listener))
    },
    async end() {
      const code = await running?.end('SIGTERM')
      const said = (await running?.stderr) ?? ''
      if (code !== 0) throw new Error(`coffer ended with ${code}: ${said}`)
      log += said
    },
    kill: async () => running?.end('SIGKILL'),
    requestLines: () =>
      log
        .split('\n')
        .filter(line => line.includes('"event":"request"'))
        .map(line => JSON.parse(line) as Line),
  }
}
