/**
 * A memory limit for a server: set by the service manager, by a control group made below one that
 * was handed over for that, or by a process that watches it.
 *
 * The only group made is a child of the one that `COFFER_MEMORY_GROUP` names, the only process
 * moved is the server, and no limit of another group is touched: the group that a shell happens to
 * run in belongs to the program that started it. Source: the kernel's cgroup-v1/memory.rst.
 * @module
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface MemoryLimit {
  /** Name of the limit in the table. */
  readonly by: string
  /** A command that runs the one after it under the limit. */
  readonly prefix: readonly string[]
  /** True if the kernel kills at the limit; otherwise the watching process has to. */
  readonly isHeld: boolean
  /** Number of kills by the kernel, if it counts them. */
  countKills(): number | undefined
  /** Removes what was made, once its processes are gone. @throws Error if that fails */
  remove(): Promise<void>
}

const removeTries = 100
const removeRestMs = 20

/** The shell enters the group, then becomes the command. */
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
      // A killed process leaves the group a moment later.
      if (tries === removeTries) throw error
      await Bun.sleep(removeRestMs)
    }
  }
}

function limitGroup(group: string, bytes: number): void {
  writeFileSync(join(group, 'memory.limit_in_bytes'), String(bytes))
  // Memory plus swap may not be below memory; the file only exists if swap is counted.
  const withSwap = join(group, 'memory.memsw.limit_in_bytes')
  if (existsSync(withSwap)) writeFileSync(withSwap, String(bytes))
}

/** @throws Error if the kernel refuses */
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

/** Returns the hardest limit available. @throws Error if a group is named and refused */
export function openMemoryLimit(bytes: number): MemoryLimit {
  if (existsSync('/run/systemd/system')) return manage(bytes)
  const parent = process.env['COFFER_MEMORY_GROUP']
  return parent === undefined ? imitation : makeGroup(parent, bytes)
}
