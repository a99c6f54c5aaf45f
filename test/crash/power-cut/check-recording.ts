/**
 * Checks the states of a recording in processes of their own, and goes on after one that died.
 *
 * @module
 */
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { BadState, Order, Progress } from './check-states.ts'
import { scriptCommand, scriptEnv } from './record.ts'
import type { WeakOptions } from './weaken-lmdb.ts'

export interface CheckOptions {
  readonly log: string
  /** Folder for images if the machine has no file system in memory. */
  readonly folder: string
  readonly seed: number
  readonly count: number
  readonly weak?: WeakOptions
}

export interface Checked {
  readonly states: number
  readonly bad: readonly BadState[]
}

const processes = 2
/** A share in which so many states have ended the process needs no further check. */
const deathsMax = 10
/** One state takes some milliseconds, so a process that stays at one for so long hangs. */
const stateMsMax = 60_000
const lookEveryMs = 1_000
const memoryFolder = '/dev/shm'

function imageFolder(folder: string): string {
  try {
    accessSync(memoryFolder, constants.W_OK)
    return mkdtempSync(join(memoryFolder, 'coffer-crash-'))
  } catch {
    return mkdtempSync(join(folder, 'images-'))
  }
}

function readProgress(folder: string): Progress {
  const file = join(folder, 'progress')
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return text === '' ? { at: -1, checked: 0 } : (JSON.parse(text) as Progress)
}

/** Ends the process if it stays at one state. @returns a function that stops the watch */
function watch(child: Bun.Subprocess, folder: string): () => void {
  let at = -2
  let sinceMs = performance.now()
  const timer = setInterval(() => {
    const reached = readProgress(folder).at
    if (reached !== at) sinceMs = performance.now()
    at = reached
    if (performance.now() - sinceMs > stateMsMax) child.kill('SIGKILL')
  }, lookEveryMs)
  return () => clearInterval(timer)
}

async function runOnce(order: Order, weak: WeakOptions | undefined) {
  rmSync(join(order.folder, 'progress'), { force: true })
  const command = [...scriptCommand('check-states.ts', weak), JSON.stringify(order)]
  const child = Bun.spawn(command, {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: scriptEnv(weak),
  })
  const stopWatch = watch(child, order.folder)
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  stopWatch()
  const lines = stdout.split('\n').filter(line => line.startsWith('{'))
  const bad = lines.map(line => JSON.parse(line) as BadState)
  const { at, checked } = readProgress(order.folder)
  if (exitCode === 0) return { bad, checked }
  if (exitCode === 1 || at < order.from) throw new Error(`the check itself failed: ${stderr}`)
  const says = String(child.signalCode ?? `exit code ${exitCode}`)
  return { bad: [...bad, { at, kind: 'died', says } as const], checked, diedAt: at }
}

async function checkShare(order: Order, weak: WeakOptions | undefined): Promise<Checked> {
  const bad: BadState[] = []
  let states = 0
  let from = 0
  for (let deaths = 0; deaths < deathsMax; deaths += 1) {
    const run = await runOnce({ ...order, from }, weak)
    bad.push(...run.bad)
    states += run.checked
    if (run.diedAt === undefined) break
    from = run.diedAt + 1
  }
  return { states, bad }
}

export async function checkRecording(options: CheckOptions): Promise<Checked> {
  const { log, seed, count, weak } = options
  const shares = Array.from({ length: processes }, async (_, share) => {
    const folder = imageFolder(options.folder)
    try {
      return await checkShare({ log, folder, seed, count, share, of: processes, from: 0 }, weak)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
  const checked = await Promise.all(shares)
  return {
    states: checked.reduce((sum, { states }) => sum + states, 0),
    bad: checked.flatMap(({ bad }) => bad),
  }
}
