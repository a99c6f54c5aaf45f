/**
 * A vault beside the test, for test runners other than Bun: a child process, which ends with its
 * parent and never keeps the test runner alive.
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

/** Command that starts `coffer`. */
export interface Program {
  readonly command: string
  readonly words: readonly string[]
  /** Working folder for its own files; it reads nothing of the application. */
  readonly folder: string
}

/** First line of the child, once it is ready. */
interface Ready extends Pick<Started, 'address' | 'tenantId' | 'keys'> {
  /** Lead of its clock at its start over the machine's, in milliseconds. */
  readonly leadMs: number
}

interface Child extends ChildProcess {
  stdin: Writable
  stdout: Readable
  stderr: Readable
}

/** Characters of the child's stderr that an error repeats when it does not start. */
const stderrCharsMax = 2_000
const doubleBytes = 8

/** Opens a file and removes its name. */
function openNameless(): number {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-testing-'))
  try {
    return openSync(join(folder, 'clock'), 'w+')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** File that shows the clock's offset to the child, which reads it with every clock reading. */
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

/** A jump is written before `advance` returns, so it holds for the next request. */
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

/** Sets if a child and its pipes, which are sockets, keep this process running. */
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
 * Waits for the child's first line, and passes later lines to the log.
 * @throws Error with the reason if the vault does not start
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
    // `close` comes after the exit: by then all of its log lines have arrived.
    child.on('close', done)
    child.stdin.end()
  })
}

export interface ChildParts {
  /** Finds the program to start, for each vault. */
  readonly findProgram: () => Program
  /** Unix milliseconds by the machine's clock. */
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
    // If the vault has ended by itself, the next call of a client reports it.
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
