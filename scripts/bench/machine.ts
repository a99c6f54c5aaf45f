/**
 * Describes the program and the machine of a measurement: figures mean nothing without them.
 * @module
 */
import { readFileSync, statSync } from 'node:fs'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { printJson } from '../../src/lib/json/json.ts'
import { cardOf } from '../seed/contents.ts'
import { openRandom } from '../seed/random.ts'
import { runToEnd } from './child.ts'

export interface Machine {
  readonly date: string
  readonly commit: string
  readonly command: string
  readonly processor: string
  readonly memoryGb: number
  /** Load average over the minute before the run, caused by other work. */
  readonly loadBefore: number
  readonly kernel: string
  /** Device and file system of the measured folder. */
  readonly disk: string
  readonly durability: string
  readonly connections: string
  readonly values: string
  readonly bun: string
  readonly binary: string
  readonly loadGenerator: string
}

const [loadBefore = 0] = loadavg()

/** Returns the mount table's line with the longest path above the folder. */
function diskOf(folder: string): string {
  try {
    const mounts = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map(line => line.split(' '))
      .filter(([, path = '']) => folder === path || folder.startsWith(path.replace(/\/?$/, '/')))
      .toSorted(([, a = ''], [, b = '']) => b.length - a.length)
    const [device = '', , system = ''] = mounts[0] ?? []
    return `${system} on ${device}`
  } catch {
    return 'unknown'
  }
}

async function commitOf(): Promise<string> {
  try {
    const commit = await runToEnd(['git', 'rev-parse', '--short=12', 'HEAD'])
    const changes = await runToEnd(['git', 'status', '--porcelain', '--', 'src', 'scripts'])
    return changes === '' ? commit : `${commit}, with changes`
  } catch {
    return 'unknown'
  }
}

/** Paths of this machine's users are private. */
const withoutPath = (word: string): string => (word.startsWith('/') ? '<path>' : word)

const processorText = (): string => {
  const all = cpus()
  return `${all.length} × ${all[0]?.model ?? 'unknown'}`
}

/** @param binary  path of the measured program @param folder  place of the data sets */
export async function describeMachine(
  binary: string,
  folder: string,
  loadGenerator: string,
): Promise<Machine> {
  const { size, mtime } = statSync(binary)
  const card = printJson(cardOf(openRandom(1)))
  return {
    date: new Date().toISOString(),
    commit: await commitOf(),
    command: ['bun run bench', ...process.argv.slice(2).map(withoutPath)].join(' '),
    processor: processorText(),
    memoryGb: Math.round(totalmem() / 1e9),
    loadBefore: Math.round(loadBefore * 10) / 10,
    kernel: `${type()} ${release()}`,
    disk: diskOf(folder),
    durability: 'every answered write is flushed to the disk, on all sides',
    connections: '32, kept alive; 64 for single creates, 2 for /tokenize, 1 for large tokens',
    values: `cards of about ${card.length} bytes of data`,
    bun: Bun.version,
    binary: `${Math.round(size / 1e6)} MB, built ${mtime.toISOString()}`,
    loadGenerator,
  }
}
