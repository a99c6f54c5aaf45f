/**
 * `coffer keys split | join`: the master key in shares, which several people keep.
 * @module
 */
import type { Command } from 'commander'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isatty } from 'node:tty'
import { ownBytes, utf8Text } from '../../lib/bytes.ts'
import { splitKey } from '../../crypto/shares.ts'
import { ApiError } from '../../lib/errors.ts'
import { ownerOnlyFile, ownerOnlyFolder, syncFolder } from '../../lib/files.ts'
import { shareTextBytesMax } from '../../limits/operation-limits.ts'
import {
  checkFolder,
  masterKeyFileOf,
  type FolderOptions,
} from '../../server/folder/data-folder.ts'
import { CommandFailure, systemCodeOf, usage } from '../../server/process/failure.ts'
import { writeMasterKey } from '../../server/keys/master-key.ts'
import { isAnythingAt, removeFile, statsAt } from '../../server/folder/regular-files.ts'
import { askSecret, readSecretLine } from '../../server/keys/secret-input.ts'
import { randomBytes, sayJson, sayNow, writeOut } from '../../server/process/system.ts'
import { collectShares } from '../../server/keys/unsealer.ts'
import { operate } from '../operate.ts'
import { takesVault } from '../vault-options.ts'

interface SplitOptions extends FolderOptions {
  readonly shares: string
  readonly threshold: string
  /** Folder for one file per share; without it they are printed. */
  readonly toDir?: string
  readonly json?: boolean
}

interface JoinOptions extends FolderOptions {
  readonly json?: boolean
}

const stdin = 0

/**
 * A wrong key would be noticed only on the day when the shares are needed.
 * @throws CommandFailure unless it is the key of the vault
 */
const assertOwnKey = (options: FolderOptions): Promise<unknown> =>
  operate(options, 'keys-prove', {})

/** Like `splitKey`, with the texts of a command line. @throws CommandFailure */
async function split(masterKey: Uint8Array, { shares, threshold }: SplitOptions) {
  try {
    return await splitKey(masterKey, Number(shares), Number(threshold), randomBytes)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw usage(`--shares, --threshold: ${error.message}`)
  }
}

const newLine = Buffer.from('\n')

function printShares(texts: readonly Uint8Array[], { json }: SplitOptions): void {
  if (json === true) return sayJson({ shares: texts.map(utf8Text) })
  for (const text of texts) {
    writeOut(text)
    writeOut(newLine)
  }
}

function writeShare(path: string, text: Uint8Array): void {
  const line = ownBytes(text.length + 1).fill(newLine)
  line.set(text)
  try {
    writeFileSync(path, line, { mode: ownerOnlyFile, flag: 'wx', flush: true })
  } finally {
    line.fill(0)
  }
}

function writeShares(texts: readonly Uint8Array[], folder: string): readonly string[] {
  const paths = texts.map((_, index) => join(folder, `share-${index + 1}`))
  const taken = paths.find(isAnythingAt)
  if (taken !== undefined) throw new CommandFailure(`${taken} is there already: choose --to-dir`)
  const begun: string[] = []
  try {
    mkdirSync(folder, { recursive: true, mode: ownerOnlyFolder })
    for (const [index, path] of paths.entries()) {
      begun.push(path)
      writeShare(path, texts[index] ?? new Uint8Array())
    }
    syncFolder(folder)
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error
    // EEXIST: the last file appeared in between and is not ours.
    for (const path of systemCodeOf(error) === 'EEXIST' ? begun.slice(0, -1) : begun) {
      removeFile(path)
    }
    throw new CommandFailure(`cannot write shares to ${folder}: choose another --to-dir`)
  }
  return paths
}

/** @throws CommandFailure with no share printed or written */
async function keysSplit(options: SplitOptions): Promise<void> {
  const masterKey = checkFolder(options)
  try {
    await assertOwnKey(options)
    const texts = await split(masterKey, options)
    try {
      if (options.toDir === undefined) return printShares(texts, options)
      const files = writeShares(texts, resolve(options.toDir))
      if (options.json === true) sayJson({ files })
      else sayNow(`${files.length} shares are in ${options.toDir}: give each to somebody else`)
    } finally {
      for (const text of texts) text.fill(0)
    }
  } finally {
    masterKey.fill(0)
  }
}

/**
 * Reads shares line by line from stdin. On a terminal it asks for each, and again for one that is
 * not accepted.
 * @param take returns true when no more are needed
 * @returns the number of accepted shares
 */
export async function eachShare(take: (text: Uint8Array) => Promise<boolean>): Promise<number> {
  const isAsked = isatty(stdin)
  for (let count = 0; ;) {
    const line = isAsked
      ? askSecret('Share: ', shareTextBytesMax)
      : readSecretLine(stdin, shareTextBytesMax)
    if (line === undefined) return count
    if (line.length === 0) continue
    try {
      count += 1
      if (await take(line)) return count
    } catch (error) {
      if (!isAsked || !(error instanceof CommandFailure)) throw error
      sayNow(`Not taken: ${error.message}`)
    } finally {
      line.fill(0)
    }
  }
}

function keyFileOf(options: JoinOptions): string {
  const file = masterKeyFileOf(options)
  if (file === undefined) {
    const message = 'keys join writes a file: say where with --master-key-file'
    throw usage(message)
  }
  const found = statsAt(file)
  // An empty one was left by a command that was cut off.
  if (found === undefined || (found.isFile() && found.size === 0)) return file
  throw new CommandFailure(`${file} is there already: keys join replaces no key`)
}

/** @throws CommandFailure with nothing written */
async function keysJoin(options: JoinOptions): Promise<void> {
  const file = keyFileOf(options)
  const collection = collectShares()
  await eachShare(async text => {
    let masterKey: Uint8Array | undefined
    try {
      masterKey = await collection.add(text)
    } catch (error) {
      throw error instanceof ApiError ? new CommandFailure(error.message) : error
    }
    if (masterKey === undefined) return false
    try {
      writeMasterKey(file, masterKey)
    } finally {
      masterKey.fill(0)
    }
    return true
  })
  if (!existsSync(file)) {
    const { shares, threshold } = collection.progress()
    const needed = threshold === null ? 'there was none' : `${shares} of ${threshold} came`
    throw new CommandFailure(`too few shares: ${needed}`)
  }
  if (options.json === true) sayJson({ file })
  else sayNow(`The master key is in ${file}: see coffer doctor whether it opens the vault.`)
}

export function addSplit(keys: Command): void {
  takesVault(keys.command('split'), { store: 'folder' })
    .description('print the master key in shares, of which any so many give it again')
    .requiredOption('--shares <count>', 'how many there are to be')
    .requiredOption('--threshold <count>', 'how many of them give the key')
    .option('--to-dir <dir>', 'write them there, each to a file of its own')
    .option('--json', 'print one line of JSON')
    .action((options: SplitOptions) => keysSplit(options))
}

export function addJoin(keys: Command): void {
  takesVault(keys.command('join'), { store: 'folder' })
    .description('write the master key to its file again, from shares on stdin')
    .option('--json', 'print one line of JSON')
    .action((options: JoinOptions) => keysJoin(options))
}
