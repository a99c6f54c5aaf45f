/**
 * A limit of memory around a server: by the service manager, by a control group that is made below
 * one which was handed over for that, or by the process that watches it.
 *
 * No group is made but a child of the one that `COFFER_MEMORY_GROUP` names, no process is moved but
 * the server, and no limit of another group is touched: the group that a shell happens to run in
 * belongs to whatever started it. Source: the kernel's cgroup-v1/memory.rst.
 * @module
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface MemoryLimit {
  /** For the table. */
  readonly by: string
  /** A command that puts the one behind it under the limit. */
  readonly prefix: readonly string[]
  /** Whether the kernel kills at the limit; else the process that watches has to. */
  readonly isHeld: boolean
  /** Kills by the kernel, where it counts them. */
  countKills(): number | undefined
  /** Removes what was made for it, once its processes are gone. @throws Error when it stays */
  remove(): Promise<void>
}

const removeTries = 100
const removeRestMs = 20

/** The shell enters, and becomes the command. */
const enter = (group: string): readonly string[] => [
  'sh',
  '-c',
  'echo $$ > "$0/cgroup.procs" && exec "$@"',
  group,
]

async function removeGroup(group: string): Promise<void> {
  for (let tries = 1; existsSync(group); tries += 1) {
    try {
      rmdirSync(group)
    } catch (error) {
      // A process that was killed leaves a moment later.
      if (tries === removeTries) throw error
      await Bun.sleep(removeRestMs)
    }
  }
}

function limitGroup(group: string, bytes: number): void {
  writeFileSync(join(group, 'memory.limit_in_bytes'), String(bytes))
  // Memory and swap together are never less than memory; the file is there where swap is counted.
  const withSwap = join(group, 'memory.memsw.limit_in_bytes')
  if (existsSync(withSwap)) writeFileSync(withSwap, String(bytes))
}

/** @throws Error when the kernel refuses */
function makeGroup(parent: string, bytes: number): MemoryLimit {
  const group = join(parent, `coffer-${process.pid}`)
  mkdirSync(group)
  try {
    limitGroup(group, bytes)
  } catch (error) {
    rmdirSync(group)
    throw error
  }
  return {
    by: 'by a control group',
    prefix: enter(group),
    isHeld: true,
    countKills() {
      const counts = readFileSync(join(group, 'memory.oom_control'), 'latin1')
      const kills = /^oom_kill (\d+)$/m.exec(counts)?.[1]
      return kills === undefined ? undefined : Number(kills)
    },
    remove: () => removeGroup(group),
  }
}

const nothingMade = { countKills: () => undefined, remove: () => Promise.resolve() }

const manage = (bytes: number): MemoryLimit => ({
  ...nothingMade,
  by: 'by a control group of the service manager',
  prefix: [
    'systemd-run',
    '--scope',
    '--quiet',
    '-p',
    `MemoryMax=${bytes}`,
    '-p',
    'MemorySwapMax=0',
  ],
  isHeld: true,
})

const imitation: MemoryLimit = {
  ...nothingMade,
  by: 'from outside: no service manager runs here, and no control group was handed over',
  prefix: [],
  isHeld: false,
}

/** The hardest limit that can be had here. @throws Error when a group is named and refused */
export function openMemoryLimit(bytes: number): MemoryLimit {
  if (existsSync('/run/systemd/system')) return manage(bytes)
  const parent = process.env['COFFER_MEMORY_GROUP']
  return parent === undefined ? imitation : makeGroup(parent, bytes)
}
