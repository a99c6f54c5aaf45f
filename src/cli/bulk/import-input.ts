/**
 * Input of an import: a file or standard input, opened with an age identity if it is sealed, as
 * UTF-8 without a byte order mark.
 * @module
 */
import { createReadStream, existsSync, statSync } from 'node:fs'
import { Decrypter } from 'age-encryption'
import { readRegular } from '../../lib/files.ts'
import {
  ageHeaderBytesMax,
  identityFileBytesMax,
  importReadBytes,
} from '../../limits/operation-limits.ts'
import { CommandFailure, systemCodeOf, usage } from '../../server/process/failure.ts'
import { withFile } from './named-file.ts'

export interface InputOptions {
  /** A file that holds age identities. */
  readonly identity?: string
  readonly encoding?: string
}

export const standardInputName = '-'

/** @throws CommandFailure that repeats nothing of it */
function identitiesOf(path: string): readonly string[] {
  const bytes = withFile('--identity', path, () => readRegular(path, identityFileBytesMax))
  const text = Buffer.from(bytes ?? []).toString()
  const identities = text.split(/\r?\n/).filter(line => /^AGE-SECRET-KEY-1\w+$/i.test(line.trim()))
  if (identities.length > 0) return identities.map(line => line.trim())
  throw usage(`--identity: ${path}: expected a file as age-keygen makes it`)
}

async function* chunksOf(stream: AsyncIterable<Uint8Array>, path: string) {
  try {
    yield* stream
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error
    throw new CommandFailure(`the file at ${path} cannot be read: ${systemCodeOf(error)}`)
  }
}

function openBytes(path: string): AsyncIterable<Uint8Array> {
  if (path === standardInputName) return Bun.stdin.stream()
  withFile('the input', path, () => {
    if (statSync(path).isDirectory()) throw usage(`the input: ${path}: it is a folder`)
  })
  return chunksOf(createReadStream(path, { highWaterMark: importReadBytes }), path)
}

const streamOf = (chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> => {
  const reader = chunks[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.next()
      if (done === true) controller.close()
      else controller.enqueue(new Uint8Array(value))
    },
  })
}

const unopened = () =>
  new CommandFailure('the input is no age file that --identity opens, or it was cut off or changed')

const ageBegins = 'age-encryption.org/v1\n'
const lineEnd = 0x0a

/** @returns true if the line of the header's MAC is in it as a whole */
function hasWholeHeader(head: Buffer): boolean {
  const mac = head.indexOf('\n---')
  return mac >= 0 && head.includes(lineEnd, mac + 1)
}

/**
 * The same chunks. The library takes a header of any length, and tries each of its stanzas.
 * @throws CommandFailure for a long one, or where none begins
 */
async function* withShortHeader(chunks: AsyncIterable<Uint8Array>) {
  let head: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of chunks) {
    if (head === undefined) {
      yield chunk
      continue
    }
    head = Buffer.concat([head, chunk])
    const start = head.subarray(0, ageHeaderBytesMax)
    if (hasWholeHeader(start)) {
      yield head
      head = undefined
    } else if (start.length === ageHeaderBytesMax) {
      if (!start.toString('latin1').startsWith(ageBegins)) throw unopened()
      const most = `${ageHeaderBytesMax} bytes of recipients`
      throw new CommandFailure(
        `the input: expected an age file with at most ${most} before its data`,
      )
    }
  }
  if (head !== undefined) yield head
}

/** @throws CommandFailure as soon as a part is not as it was sealed */
async function* unseal(chunks: AsyncIterable<Uint8Array>, identity: string) {
  const decrypter = new Decrypter()
  for (const each of identitiesOf(identity)) decrypter.addIdentity(each)
  try {
    yield* await decrypter.decrypt(streamOf(withShortHeader(chunks)))
  } catch (error) {
    throw error instanceof CommandFailure ? error : unopened()
  }
}

const marks: readonly (readonly [string, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]
const longestMark = 3

async function* recode(chunks: AsyncIterable<Uint8Array>, encoding: string) {
  const decoder = new TextDecoder(encoding as Bun.Encoding)
  const encoder = new TextEncoder()
  for await (const chunk of chunks) yield encoder.encode(decoder.decode(chunk, { stream: true }))
  yield encoder.encode(decoder.decode())
}

/** Removes the byte order mark, and tells the encoding by it. */
async function withoutMark(chunks: AsyncIterable<Uint8Array>) {
  const reader = chunks[Symbol.asyncIterator]()
  let head: Uint8Array = new Uint8Array()
  let next = await reader.next()
  while (next.done !== true && head.length < longestMark) {
    head = Buffer.concat([head, next.value])
    if (head.length < longestMark) next = await reader.next()
  }
  const marked = marks.find(([, mark]) => mark.every((byte, at) => head[at] === byte))
  const rest = async function* () {
    yield head.subarray(marked?.[1].length ?? 0)
    for (let each = await reader.next(); each.done !== true; each = await reader.next()) {
      yield each.value
    }
  }
  return { encoding: marked?.[0], rest: rest() }
}

/** @throws CommandFailure */
export async function openInput(
  path: string,
  { identity, encoding }: InputOptions,
): Promise<AsyncIterable<Uint8Array>> {
  const bytes = openBytes(path)
  const plain = identity === undefined ? bytes : unseal(bytes, identity)
  const { encoding: marked, rest } = await withoutMark(plain)
  const named = marked ?? encoding ?? 'utf-8'
  return named === 'utf-8' ? rest : recode(rest, named)
}

export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const

/** True if others on this machine may read it: an operator with card numbers wants to know. */
export const isReadByOthers = (path: string): boolean =>
  path !== standardInputName && existsSync(path) && (statSync(path).mode & 0o044) !== 0
