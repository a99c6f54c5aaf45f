/**
 * A vault beside the test, for test runners that are no Bun: a process of its own, which ends with
 * the one that started it and keeps no test runner from its end.
 * @module
 */
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { makeMovedTime, type MovedTime, type TestClock } from './test-clock.ts'
import { testVaultOf, type Started, type StartOptions, type TestVault } from './test-vault.ts'

/** What starts `coffer`. */
export interface Program {
  readonly command: string
  readonly words: readonly string[]
  /** Where it looks for files of its own; nothing of the application is read by it. */
  readonly folder: string
}

/** What the child says when it is ready. */
interface Ready extends Pick<Started, 'address' | 'tenantId' | 'keys'> {
  /** How far its clock is ahead of the machine's by its start, in milliseconds. */
  readonly leadMs: number
}

interface Child extends ChildProcess {
  stdin: Writable
  stdout: Readable
  stderr: Readable
}

/** How much of what a child said on stderr is told when it does not start, in characters. */
const stderrCharsMax = 2_000
const doubleBytes = 8

/** A file that has no name any more. */
function openNameless(): number {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-testing-'))
  try {
    return openSync(join(folder, 'clock'), 'w+')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Of a clock: where it is shown to a child, which reads that whenever it looks at its clock. */
interface Shown {
  readonly file: number
  readonly write: () => void
}

function show({ movedMs }: MovedTime): Shown {
  const file = openNameless()
  const bytes = Buffer.alloc(doubleBytes)
  const write = (): void => {
    bytes.writeDoubleLE(movedMs(), 0)
    writeSync(file, bytes, 0, doubleBytes, 0)
  }
  write()
  return { file, write }
}

/** A jump holds for the next request: it is shown when `advance` returns. */
const clockOf = (
  { movedMs, advance }: MovedTime,
  { write }: Shown,
  machineMs: () => number,
): TestClock => ({
  now: () => new Date(Math.trunc(machineMs() + movedMs())),
  advance(length) {
    advance(length)
    write()
  },
})

/** Whether a child and its pipes, which are sockets, keep this process running. */
function hold(child: Child, isHeld: boolean): void {
  const handles: readonly object[] = [child, child.stdin, child.stdout, child.stderr]
  for (const handle of handles as readonly { ref(): void; unref(): void }[]) {
    if (isHeld) handle.ref()
    else handle.unref()
  }
}

const causeOf = ({ code }: NodeJS.ErrnoException, { command }: Program): string =>
  code === 'ENOENT'
    ? `found no ${command}: install the package bun, or name the binary of coffer in COFFER`
    : (code ?? 'it cannot be started')

/**
 * What the child says first, and what it goes on to say to the log.
 * @throws Error that says why there is no vault
 */
async function untilReady(
  child: Child,
  program: Program,
  log: StartOptions['log'],
): Promise<Ready> {
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-stderrCharsMax)
  })
  return await new Promise((resolve, reject) => {
    const fail = (why: string): void =>
      reject(new Error(`startVault: the vault did not start: ${why}`))
    child.on('error', error => fail(causeOf(error, program)))
    child.on('close', () => fail(stderr.trim() || 'it has ended'))
    createInterface({ input: child.stdout }).on('line', line => {
      const said = JSON.parse(line) as Ready | { readonly event: string; readonly facts?: object }
      if ('event' in said) log?.(said.event, said.facts)
      else resolve(said)
    })
  })
}

function end(child: Child, file: number): Promise<void> {
  return new Promise(resolve => {
    const done = (): void => {
      closeSync(file)
      resolve()
    }
    if (child.exitCode !== null || child.signalCode !== null) return done()
    hold(child, true)
    // Later than its end: what it has told the log has come by then.
    child.on('close', done)
    child.stdin.end()
  })
}

export interface ChildParts {
  /** What to start, asked for each vault. */
  readonly findProgram: () => Program
  /** Unix milliseconds, as the machine believes. */
  readonly wallMs: () => number
}

export const makeStartVault =
  ({ findProgram, wallMs }: ChildParts) =>
  async (options: StartOptions = {}): Promise<TestVault> => {
    const { settings = {}, startAt, log } = options
    const time = makeMovedTime(startAt)
    const { startAtMs } = time
    const program = findProgram()
    const shown = show(time)
    const order = JSON.stringify({ settings, startAtMs, logs: log !== undefined })
    const stdio: StdioOptions = ['pipe', 'pipe', 'pipe', shown.file]
    const child = spawn(program.command, [...program.words, 'test-vault', order], {
      cwd: program.folder,
      stdio,
    }) as Child
    // A vault that has ended by itself is told by the next call of a client.
    child.stdin.on('error', () => {})
    const ready = await untilReady(child, program, log).catch((error: unknown) => {
      closeSync(shown.file)
      throw error
    })
    child.stderr.on('data', (text: string) => process.stderr.write(text))
    hold(child, false)
    const { address, tenantId, keys, leadMs } = ready
    const clock = clockOf(time, shown, () => wallMs() + leadMs)
    return testVaultOf({ address, tenantId, keys, clock, stop: () => end(child, shown.file) })
  }
