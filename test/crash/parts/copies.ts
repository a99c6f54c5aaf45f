/**
 * Copies of a database: taken by `cp` while a server writes, taken by the engine itself, cut short,
 * with a hole, and put beside a lock file from a later time.
 *
 * A plain copy of a file that changes is no backup, and must never pass for one: `verify` finds it
 * damaged, or it has everything that was acknowledged before it began. The engine's own copy is
 * always whole. Source: hardening D7; T5, T33.
 * @module
 */
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { openEnvironment } from '../../../src/store/lmdb/environment.ts'
import { damageBytes } from '../damage/damage-file.ts'
import {
  breachesOf,
  examine,
  isUnharmed,
  layOut,
  writeInto,
  type Examined,
} from '../damage/examine.ts'
import { usedBytesOf } from '../damage/used-bytes.ts'
import { startLiveVault, underLoad, type LiveVault } from '../damage/live-vault.ts'
import { makeStoredVault, type Question, type StoredVault } from '../damage/stored-vault.ts'
import { drawFrom, type Draw } from '../draw.ts'
import type { Part, PartOptions } from '../part.ts'

const copies = { full: 100, short: 6 } as const
const questionsMax = 80
const chunkBytes = 128 * 1024
/** Tokens made between two chunks of a slow copy. */
const tokensBetween = 2

/** One kind of copy, with the results of all its runs. */
interface Kind {
  readonly name: string
  readonly vault: StoredVault
  readonly data: string
  readonly counts: Map<string, number>
  readonly failures: string[]
}

function count({ name, counts }: Kind, what: string): void {
  counts.set(`${name}: ${what}`, (counts.get(`${name}: ${what}`) ?? 0) + 1)
}

/** Counts the outcome of a copy; fails if it was expected to be whole or refused and is not. */
function judge(kind: Kind, examined: Examined, expected?: 'whole' | 'refused'): void {
  const { verify, server } = examined
  const isWhole = verify === 'clean' && isUnharmed(examined)
  const isRefused = verify === 'damaged' && server === 'refused'
  count(kind, isWhole ? 'whole' : verify === 'damaged' ? 'found by verify' : 'not found')
  if (!isWhole) count(kind, `server ${server}`)
  const breaches = breachesOf(examined)
  if (expected === 'whole' && !isWhole) breaches.push(`not whole: ${examined.stderr.slice(0, 200)}`)
  if (expected === 'refused' && !isRefused) breaches.push(`verify ${verify}, server ${server}`)
  for (const breach of breaches) kind.failures.push(`${kind.name}: ${breach}`)
}

/** Copies as from a large file, or over a slow network: the file changes between chunks. */
async function copySlowly(live: LiveVault, from: string): Promise<Uint8Array> {
  const file = openSync(from, 'r')
  const chunks: Buffer[] = []
  for (let at = 0; ; at += chunkBytes) {
    const chunk = Buffer.alloc(chunkBytes)
    const length = readSync(file, chunk, 0, chunkBytes, at)
    chunks.push(chunk.subarray(0, length))
    if (length < chunkBytes) break
    const { made } = live
    while (live.made < made + tokensBetween) await Bun.sleep(1)
  }
  closeSync(file)
  return Buffer.concat(chunks)
}

/** Adds the tokens acknowledged last before the copy began to some of the earlier ones. */
function withQuestions(vault: StoredVault, live: LiveVault): StoredVault {
  const before = vault.questions.filter(({ isList }) => isList !== true)
  const latest: readonly Question[] = live.kept.slice(-questionsMax)
  return { ...vault, questions: [...before.slice(0, questionsMax), ...latest] }
}

async function copyPlainly(kind: Kind, live: LiveVault, isSlow: boolean): Promise<void> {
  const from = join(live.store, 'data.mdb')
  const taken = await underLoad(live, async () => {
    const vault = withQuestions(kind.vault, live)
    return { vault, bytes: isSlow ? await copySlowly(live, from) : readFileSync(from) }
  })
  layOut(taken.vault, kind.data, taken.bytes)
  judge(kind, await examine(taken.vault, kind.data))
}

async function copyByEngine(kind: Kind, live: LiveVault): Promise<void> {
  const target = `${kind.data}-engine`
  const environment = openEnvironment(live.store)
  const vault = await underLoad(live, async () => {
    const asked = withQuestions(kind.vault, live)
    mkdirSync(target)
    await environment.root.backup(target, false)
    return asked
  })
  await environment.root.close()
  layOut(vault, kind.data, readFileSync(join(target, 'data.mdb')))
  rmSync(target, { recursive: true })
  judge(kind, await examine(vault, kind.data), 'whole')
}

/** Free pages at the end may be missing; a copy that lacks one used byte must be refused. */
async function cutShort(kind: Kind, database: Uint8Array, draw: Draw, at: number): Promise<void> {
  const usedBytes = usedBytesOf(join(kind.vault.data, 'store'))
  const lengthBytes = [usedBytes, usedBytes - 1][at] ?? draw(database.length)
  layOut(kind.vault, kind.data, database.subarray(0, lengthBytes))
  const expected = lengthBytes < usedBytes ? 'refused' : 'whole'
  judge(kind, await examine(kind.vault, kind.data), expected)
}

async function makeHole(kind: Kind, database: Uint8Array, draw: Draw): Promise<void> {
  layOut(kind.vault, kind.data, damageBytes(database, 'hole', draw))
  judge(kind, await examine(kind.vault, kind.data))
}

/** The lock file knows later transactions, and readers of a process that is gone. */
async function putBack(kind: Kind, live: LiveVault, database: Uint8Array): Promise<void> {
  const { vault, data } = kind
  layOut(vault, data, database)
  await underLoad(live, async () => {
    copyFileSync(join(live.store, 'lock.mdb'), join(data, 'store', 'lock.mdb'))
  })
  judge(kind, await examine(vault, data), 'whole')
  for (const breach of await writeInto(vault, data)) kind.failures.push(`${kind.name}: ${breach}`)
}

export const copyDatabases: Part = async (options: PartOptions) => {
  const vault = await makeStoredVault(options.folder)
  const live = await startLiveVault(vault, options.folder)
  const database = readFileSync(join(vault.data, 'store', 'data.mdb'))
  const draw = drawFrom(options.seed)
  const shared = { vault, data: join(options.folder, 'copy'), counts: new Map(), failures: [] }
  const kinds: Readonly<Record<string, (kind: Kind, at: number) => Promise<void>>> = {
    'cp under load': (kind, at) => copyPlainly(kind, live, at % 2 === 0),
    "the engine's copy under load": kind => copyByEngine(kind, live),
    'cut short': (kind, at) => cutShort(kind, database, draw, at),
    'a page of zeros': kind => makeHole(kind, database, draw),
    'older, beside a newer lock file': kind => putBack(kind, live, database),
  }
  for (const [name, take] of Object.entries(kinds)) {
    for (let at = 0; at < copies[options.size]; at += 1) await take({ ...shared, name }, at)
    options.say(`${copies[options.size]} of: ${name}, ${shared.failures.length} failures`)
  }
  await live.server.end('SIGTERM')
  const figures = {
    copies: Object.keys(kinds).length * copies[options.size],
    'promises broken': shared.failures.length,
    ...Object.fromEntries(shared.counts),
  }
  return { figures, failures: shared.failures }
}
