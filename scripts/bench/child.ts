/**
 * Runs other programs: to their end, or until they are stopped.
 *
 * Programs that still run when this process ends are ended with it.
 * @module
 */
import type { Subprocess } from 'bun'

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Destination of stderr; by default it is kept for the message of a failure. */
  readonly stderr?: 'inherit'
  /** A file that takes stderr instead, as the journal takes the log of a server. */
  readonly log?: string
}

export interface Running {
  readonly pid: number
  /** The first text that it printed. */
  readonly ready: string
  /** Sends a signal and waits for the end. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>
}

const running = new Set<Subprocess>()

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

/** The choice of binary is no setting of a vault that is made for it. */
const { COFFER_BINARY: _, ...inherited } = process.env

function spawn(command: readonly string[], { env, cwd, stderr, log }: RunOptions) {
  const child = Bun.spawn([...command], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: log === undefined ? (stderr ?? 'pipe') : Bun.file(log),
    env: { ...inherited, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  })
  running.add(child)
  void child.exited.then(() => running.delete(child))
  return child
}

const textOf = async (stream: ReadableStream<Uint8Array> | number | undefined): Promise<string> =>
  typeof stream === 'object' ? (await new Response(stream).text()).trim() : ''

/** @returns stdout. @throws with stderr when it fails */
export async function runToEnd(
  command: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const child = spawn(command, options)
  const [output, errors, code] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${command.slice(0, 3).join(' ')}: exit code ${code}: ${errors}`)
  return output
}

/** Starts a program that stays, and waits for its first output. @throws when it ends first */
export async function startChild(
  command: readonly string[],
  options: RunOptions = {},
): Promise<Running> {
  const child = spawn(command, options)
  const errors = textOf(child.stderr)
  const reader = child.stdout.getReader()
  const { done, value } = await reader.read()
  if (done) throw new Error(`${command.slice(0, 3).join(' ')}: not ready: ${await errors}`)
  void drain(() => reader.read())
  return {
    pid: child.pid,
    ready: new TextDecoder().decode(value).trim(),
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await child.exited
    },
  }
}

/** Reads the rest, so that the child never blocks on a full pipe. */
async function drain(read: () => Promise<{ readonly done: boolean }>): Promise<void> {
  for (;;) if ((await read()).done) return
}
