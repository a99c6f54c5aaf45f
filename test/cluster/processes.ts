/**
 * Processes that the campaign started, each with those it started in turn: all end with it.
 * @module
 */
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Owned {
  readonly pid: number
  readonly child: Bun.Subprocess
}

const owned = new Set<Owned>()
/** Data folders of PostgreSQL, whose postmasters outlive the process that started them. */
const dataFolders = new Set<string>()

export function startProcess(
  command: readonly string[],
  logFile: string,
  env: Readonly<Record<string, string>> = {},
): Owned {
  const log = openSync(logFile, 'a')
  const child = Bun.spawn([...command], {
    stdin: 'ignore',
    stdout: log,
    stderr: log,
    env: { PATH: process.env['PATH'], ...env },
  })
  const started = { pid: child.pid, child }
  owned.add(started)
  return started
}

export function ownDataFolder(folder: string): void {
  dataFolders.add(folder)
}

export const hasEnded = ({ child }: Owned): boolean =>
  child.exitCode !== null || child.signalCode !== null

/** Returns the process id of the server that runs on a data folder. */
export function postmasterOf(folder: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0])
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return command.includes(folder) ? pid : undefined
  } catch {
    return undefined
  }
}

export function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(pid, name)
  } catch {
    // It has ended already.
  }
}

/** The direct children of a process, which for a postmaster are all of its backends. */
export function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return text.split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

export async function endAll(): Promise<void> {
  const mine = [...owned].filter(each => !hasEnded(each))
  for (const { pid } of mine) signal(pid, 'SIGKILL')
  for (const folder of dataFolders) {
    const postmaster = postmasterOf(folder)
    if (postmaster === undefined) continue
    const backends = childrenOf(postmaster)
    for (const pid of [postmaster, ...backends]) signal(pid, 'SIGKILL')
  }
  await Promise.all(mine.map(({ child }) => child.exited))
}
