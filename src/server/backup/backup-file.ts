/**
 * A backup file: a database and facts about it, encrypted under a key derived from the master key.
 *
 * Layout: `coffer backup 1\n` · salt 32 · check 32, then chunks (`crypto/chunk-seal.ts`) of 1 MiB
 * and their tags, the last one shorter. Their plaintext: length of the manifest u32 · manifest as
 * JSON · the database. The check is derived from salt and master key, so that a wrong key is told
 * from damage; nothing in the file gives the master key.
 * @module
 */
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, openSync, readSync } from 'node:fs'
import { Type, type Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { versionAndBuild } from '../../lib/version.ts'
import { hexOf, readU32, utf8, utf8Text, writeU32 } from '../../lib/bytes.ts'
import { sealChunk, unsealChunk } from '../../crypto/chunk-seal.ts'
import { deriveKey } from '../../crypto/keyring.ts'
import { primitives, tagBytes } from '../../crypto/primitives.ts'
import { ownerOnlyFile, writeWhole } from '../../lib/files.ts'
import { backupChunkBytes, backupManifestBytesMax } from '../../limits/operation-limits.ts'
import type { ReportDone } from '../../lib/progress.ts'
import { CommandFailure } from '../process/failure.ts'

const magic = utf8('coffer backup 1\n')
const anyVersion = /^coffer backup \d+\n/
const saltBytes = 32
const checkAt = magic.length + saltBytes
const headBytes = checkAt + 32
const lengthBytes = 4

const manifestSchema = Type.Object({
  /** Format of the data folder. */
  format: Type.Integer(),
  coffer: Type.String(),
  created_at: Type.String(),
  /** Length of the database. */
  bytes: Type.Integer(),
  rows: Type.Record(Type.String(), Type.Integer()),
})

export type Manifest = Static<typeof manifestSchema>

interface BackupKey {
  readonly head: Uint8Array
  readonly key: Uint8Array
}

function keyOf(masterKey: Uint8Array, salt: Uint8Array): BackupKey {
  const head = new Uint8Array(headBytes)
  head.set(magic)
  head.set(salt, magic.length)
  head.set(deriveKey(masterKey, 'backup-check', hexOf(salt)), checkAt)
  return { head, key: primitives.keep(deriveKey(masterKey, 'backup', hexOf(salt))) }
}

/** Derives the key of a new backup, after which the master key is no longer needed. */
export const newBackupKey = (
  masterKey: Uint8Array,
  randomBytes: (count: number) => Uint8Array,
): BackupKey => keyOf(masterKey, Uint8Array.from(randomBytes(saltBytes)))

/** Fills `bytes` from a file. @returns the number of bytes read */
function readInto(file: number, bytes: Uint8Array): number {
  let at = 0
  while (at < bytes.length) {
    const count = readSync(file, bytes, at, bytes.length - at, null)
    if (count === 0) break
    at += count
  }
  return at
}

function withFile<T>(path: string, flags: string, use: (file: number) => T): T {
  const file = openSync(path, flags, ownerOnlyFile)
  try {
    return use(file)
  } finally {
    closeSync(file)
  }
}

function encodeManifest(manifest: Manifest): Uint8Array {
  const json = utf8(JSON.stringify(manifest))
  const length = new Uint8Array(lengthBytes)
  writeU32(length, 0, json.length)
  return Buffer.concat([length, json])
}

/** Yields chunks of plaintext: `before`, then the database. */
function* plainChunks(before: Uint8Array, database: number): Generator<Uint8Array> {
  let left = before
  for (;;) {
    const chunk = Buffer.alloc(backupChunkBytes)
    chunk.set(left)
    const filled = left.length + readInto(database, chunk.subarray(left.length))
    if (filled === 0) return
    yield chunk.subarray(0, filled)
    left = new Uint8Array()
  }
}

/**
 * Writes a new file, which is on disk when this returns.
 * @param onBytes gets the number of bytes of the database written
 * @throws the system's own error, such as for a full disk or an existing file
 */
export function writeBackup(
  path: string,
  { head, key }: BackupKey,
  manifest: Manifest,
  databasePath: string,
  onBytes: ReportDone = () => {},
): void {
  withFile(databasePath, 'r', database =>
    withFile(path, 'wx', file => {
      writeWhole(file, head)
      let number = 0
      let held: Uint8Array | undefined
      const put = (chunk: Uint8Array, isLast: boolean): void => {
        writeWhole(file, sealChunk(key, head, number, isLast, chunk))
        number += 1
        onBytes(number * backupChunkBytes)
      }
      for (const chunk of plainChunks(encodeManifest(manifest), database)) {
        if (held !== undefined) put(held, false)
        held = chunk
      }
      put(held ?? new Uint8Array(), true)
      fsyncSync(file)
    }),
  )
}

/** Reasons why a file does not open as a backup, with their messages. */
const refusals = {
  not_a_backup: (path: string) => `the file at ${path} is not a backup of coffer`,
  newer: (path: string) =>
    `the backup at ${path} was written by a newer coffer than ${versionAndBuild}: ` +
    'restore it with the one that made it, or a newer one',
  other_key: (path: string) =>
    `the master key is not the one of the backup at ${path}, or its beginning is damaged`,
  damaged: (path: string) => `the backup at ${path} is damaged or cut short: take another one`,
} as const

type Refusal = keyof typeof refusals

const refuse = (path: string, reason: Refusal) => new CommandFailure(refusals[reason](path))
export const damaged = (path: string) => refuse(path, 'damaged')

/** @param head the first bytes of a file, or all of a shorter one */
function openHead(head: Uint8Array, masterKey: Uint8Array): BackupKey | Refusal {
  const begins = Buffer.from(head.subarray(0, magic.length))
  if (!begins.equals(magic)) {
    return anyVersion.test(begins.toString('latin1')) ? 'newer' : 'not_a_backup'
  }
  if (head.length < headBytes) return 'damaged'
  const found = keyOf(masterKey, head.subarray(magic.length, checkAt))
  return Buffer.from(found.head).equals(head) ? found : 'other_key'
}

function readHead(path: string, file: number, masterKey: Uint8Array): BackupKey {
  const head = new Uint8Array(headBytes)
  const found = openHead(head.subarray(0, readInto(file, head)), masterKey)
  if (typeof found === 'string') throw refuse(path, found)
  return found
}

/** @throws CommandFailure at the first chunk that was changed */
function* openedChunks(path: string, file: number, { head, key }: BackupKey) {
  const { size } = fstatSync(file)
  const sealed = Buffer.alloc(backupChunkBytes + tagBytes)
  let at = headBytes
  for (let number = 0; at < size || number === 0; number += 1) {
    const count = readInto(file, sealed)
    at += count
    const chunk = unsealChunk(key, head, number, at >= size, sealed.subarray(0, count))
    if (chunk === undefined) throw damaged(path)
    yield chunk
  }
}

function decodeManifest(path: string, first: Uint8Array): { manifest: Manifest; rest: Uint8Array } {
  const length = first.length < lengthBytes ? 0 : readU32(first, 0)
  const end = lengthBytes + length
  if (length === 0 || length > backupManifestBytesMax || end > first.length) throw damaged(path)
  const manifest: unknown = JSON.parse(utf8Text(first.subarray(lengthBytes, end)))
  if (!Value.Check(manifestSchema, manifest)) throw damaged(path)
  return { manifest, rest: first.subarray(end) }
}

/** Number of bytes that `readStart` takes: up to the end of the first chunk. */
export const backupStartBytes = headBytes + backupChunkBytes + tagBytes

/** State of a backup, judged by its beginning and its length. */
export interface BackupStart {
  /** `complete` if the file is as long as its beginning says. */
  readonly state: 'complete' | 'cut' | Refusal
  /** Present if the beginning opens. */
  readonly manifest?: Manifest
  /** Present if the master key is that of the backup; copies of one file have the same. */
  readonly salt?: string
}

/** Length of the whole file with this manifest. */
function fileBytesOf(manifest: Manifest): number {
  const plainBytes = encodeManifest(manifest).length + manifest.bytes
  return headBytes + plainBytes + tagBytes * Math.ceil(plainBytes / backupChunkBytes)
}

function openStart(start: Uint8Array, bytes: number, { head, key }: BackupKey): BackupStart {
  const isAll = bytes <= backupStartBytes
  const sealed = start.subarray(headBytes)
  const last = unsealChunk(key, head, 0, isAll, sealed)
  // A file that was cut at the end of the first of several chunks has no last one.
  const chunk = last ?? (isAll ? unsealChunk(key, head, 0, false, sealed) : undefined)
  if (chunk === undefined) return { state: 'damaged' }
  const { manifest } = decodeManifest('', chunk)
  const expected = fileBytesOf(manifest)
  if (bytes === expected) return { state: 'complete', manifest }
  return { state: bytes < expected ? 'cut' : 'damaged', manifest }
}

/**
 * Reads the beginning of a file; the rest may still not open.
 * @param start its first `backupStartBytes`, or all of a shorter file
 * @param bytes length of the file
 */
export function readStart(start: Uint8Array, bytes: number, masterKey: Uint8Array): BackupStart {
  const found = openHead(start.subarray(0, headBytes), masterKey)
  if (typeof found === 'string') return { state: found }
  try {
    const salt = hexOf(found.head.subarray(magic.length, checkAt))
    return { ...openStart(start, bytes, found), salt }
  } finally {
    found.key.fill(0)
  }
}

/**
 * Refuses a backup by its beginning, before room is given to the rest of it.
 * @param start as `readStart` takes it
 * @param told its place, for error messages
 * @throws CommandFailure unless it opens, and is as long as it says
 */
export function assertBegins(
  start: Uint8Array,
  bytes: number,
  { masterKey, told }: { readonly masterKey: Uint8Array; readonly told: string },
): void {
  const { state } = readStart(start, bytes, masterKey)
  if (state !== 'complete') throw refuse(told, state === 'cut' ? 'damaged' : state)
}

/**
 * As `assertBegins`, for a backup whose length is not known yet.
 * @returns the length that it says it has
 */
export function lengthThatBegins(
  start: Uint8Array,
  { masterKey, told }: { readonly masterKey: Uint8Array; readonly told: string },
): number {
  const { state, manifest } = readStart(start, start.length, masterKey)
  const goesOn = state === 'cut' && start.length === backupStartBytes
  if (manifest !== undefined && (goesOn || state === 'complete')) return fileBytesOf(manifest)
  throw refuse(told, state === 'complete' || state === 'cut' ? 'damaged' : state)
}

interface Reading {
  /** Its place, for error messages. */
  readonly told?: string
  /** Gets the authenticated manifest before the database is read; may throw. */
  readonly accept?: (manifest: Manifest) => void
}

/**
 * Reads a whole backup.
 * @param takeDatabase gets the database piece by piece, to be used only once this has returned
 * @throws CommandFailure for another key, and for a file that was changed
 */
export function readBackup(
  path: string,
  masterKey: Uint8Array,
  takeDatabase: (bytes: Uint8Array) => void,
  { told = path, accept = () => {} }: Reading = {},
): Manifest {
  return withFile(path, 'r', file => {
    const chunks = openedChunks(told, file, readHead(told, file, masterKey))
    let found: Manifest | undefined
    let bytes = 0
    for (const chunk of chunks) {
      let piece = chunk
      if (found === undefined) {
        ;({ manifest: found, rest: piece } = decodeManifest(told, chunk))
        accept(found)
      }
      bytes += piece.length
      takeDatabase(piece)
    }
    if (found?.bytes !== bytes) throw damaged(told)
    return found
  })
}

/** SHA-256 of a file of any length. */
export function digestOfFile(path: string): Buffer {
  const digest = createHash('sha256')
  return withFile(path, 'r', file => {
    const piece = Buffer.alloc(backupChunkBytes)
    for (let count = readInto(file, piece); count > 0; count = readInto(file, piece)) {
      digest.update(piece.subarray(0, count))
    }
    return digest.digest()
  })
}

/** Writes the pieces of a database to a new file, which is on disk when this returns. */
export function writeDatabase(path: string, fill: (take: (bytes: Uint8Array) => void) => void) {
  withFile(path, 'wx', file => {
    fill(bytes => writeWhole(file, bytes))
    fsyncSync(file)
  })
}
