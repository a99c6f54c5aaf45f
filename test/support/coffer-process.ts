/**
 * Runs the command line as a person would: in a process of its own, from source, or with the
 * compiled binary that `COFFER_BINARY` names.
 * @module
 */
import { chmodSync, existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { temporaryFolder } from './folders.ts'

const mainFile = resolve(import.meta.dir, '../../src/main.ts')
const compiled = process.env['COFFER_BINARY']

let unpackingFolder: string | undefined

/**
 * Folder into which a binary unpacks its addons, for users who may not write to the system's own.
 * It is removed with the temporary folders of a test file, and then made anew.
 */
function unpacking(): Readonly<Record<string, string>> {
  if (compiled === undefined) return {}
  if (unpackingFolder === undefined || !existsSync(unpackingFolder)) {
    unpackingFolder = temporaryFolder()
    chmodSync(unpackingFolder, 0o1777)
  }
  return { BUN_TMPDIR: unpackingFolder }
}

/** The words before the arguments of every command. */
export const cofferCommand: readonly string[] =
  compiled === undefined ? [process.execPath, mainFile] : [resolve(compiled)]

export interface Ended {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  /** A command put in front, such as one that gives up root. */
  readonly prefix?: readonly string[]
  /** Text on stdin; empty by default. */
  readonly input?: string
}

/** Setting of the crash campaign, which folds often. */
export function foldSetting(): Readonly<Record<string, string>> {
  const rows = process.env['COFFER_FOLD_ROWS']
  return rows === undefined ? {} : { COFFER_FOLD_ROWS: rows }
}

/** Removes the warnings of every start and end from stderr. */
export const withoutWarnings = (stderr: string): string =>
  stderr.replaceAll(/^\{[^\n]*"event":"(?:unsafe|started|stopping|stopped)"[^\n]*\}\n/gm, '')

/** `doctor` tries the port of the vault: another program may have the default one. */
const portFor = ([name]: readonly string[]): Readonly<Record<string, string>> =>
  name === 'doctor' ? { COFFER_PORT: '0' } : {}

const spawn = (args: readonly string[], { env = {}, prefix = [], input = '' }: RunOptions) =>
  Bun.spawn([...prefix, ...cofferCommand, ...args], {
    stdin: input === '' ? 'ignore' : Buffer.from(input),
    stdout: 'pipe',
    stderr: 'pipe',
    env: {
      PATH: process.env['PATH'],
      ...unpacking(),
      ...foldSetting(),
      ...portFor(args),
      ...env,
    },
  })

/** Runs a command to its end. */
export async function runCoffer(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const child = spawn(args, options)
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { exitCode, stdout, stderr }
}

export interface Running {
  readonly pid: number
  /** First lines on stdout, up to the one that reports it is ready. */
  readonly ready: string
  /** Sends a signal to this process alone and returns its exit code. */
  end(signal: NodeJS.Signals): Promise<number>
  /** The exit code, once it has ended by itself or by a signal. */
  readonly exited: Promise<number>
  /** The rest of stdout, once it has ended. */
  readonly stdout: Promise<string>
  /** All of stderr, once it has ended. */
  readonly stderr: Promise<string>
  /** Returns stderr so far. */
  readonly said: () => string
}

interface Chunks {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
}

/** Returns the rest of a stream as text. @param hear gets the text so far, each time */
async function readOn(reader: Chunks, hear: (text: string) => void = () => {}): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    text += decoder.decode(value, { stream: !done })
    hear(text)
    if (done) return text
  }
}

/** Starts a command that stays, and waits for its line on stdout that it is ready. */
export async function startCoffer(
  args: readonly string[],
  options: RunOptions = {},
): Promise<Running> {
  const child = spawn(args, options)
  let said = ''
  const stderr = readOn(child.stderr.getReader(), text => (said = text))
  const reader = child.stdout.getReader()
  const first = await reader.read()
  if (first.done) throw new Error(`coffer ended before it was ready: ${await stderr}`)
  const stdout = readOn(reader)
  return {
    pid: child.pid,
    ready: new TextDecoder().decode(first.value),
    stdout,
    stderr,
    said: () => said,
    exited: child.exited,
    async end(signal) {
      child.kill(signal)
      return child.exited
    },
  }
}
