/**
 * A bucket of an S3 service, with credentials from the environment variables that all AWS tools
 * read: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION` or
 * `AWS_DEFAULT_REGION`, `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`.
 *
 * The client uses the proxy in `HTTPS_PROXY`, except for hosts in `NO_PROXY`. Its error messages
 * come from the service, so only their code is shown.
 * @module
 */
import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { ownerOnlyFile } from '../../lib/files.ts'
import {
  backupChunkBytes,
  bucketAnswerMsMax,
  bucketEntriesMax,
  bucketMemoryBytesMax,
  bucketMemoryLookMs,
  bucketPace,
  bucketPartMsMax,
  uploadPartBytes,
  uploadTriesMax,
} from '../../limits/operation-limits.ts'
import { countBytes, type BeginProgress } from '../../lib/progress.ts'
import { bucketAddress } from '../../settings/setting-formats.ts'
import { CommandFailure, systemCodeOf, usage } from '../process/failure.ts'
import { atPace, within } from './flow.ts'
import { putSmall, type S3Access } from './signed-put.ts'

export const addressPrefix = 's3://'

/** @returns the bucket name, and the rest without a slash at either end */
export function splitAddress(address: string): { readonly bucket: string; readonly key: string } {
  const [, bucket, key = ''] = bucketAddress.exec(address) ?? []
  if (bucket === undefined || key.split('/').some(name => name === '.' || name === '..')) {
    throw usage('expected an address such as s3://bucket/prefix')
  }
  return { bucket, key: key.replace(/^\/+|\/+$/g, '') }
}

interface BucketEntry {
  readonly key: string
  readonly bytes: number
}

interface Download {
  /** The new file. */
  readonly path: string
  /** Its length, which the service has told. */
  readonly bytes: number
}

export interface Bucket {
  readonly has: (key: string) => Promise<boolean>
  /** Returns the first keys of this prefix, in the order of their bytes, without another slash. */
  readonly first: (prefix: string, keysMax: number) => Promise<readonly string[]>
  /** Lists entries with keys of this prefix, without another slash behind it. */
  readonly list: (prefix: string) => Promise<readonly BucketEntry[]>
  /**
   * Sends a file, and reads it back. The key exists only after all of it was sent.
   * @throws CommandFailure, with no entry at that key
   */
  readonly upload: (key: string, path: string, progress: BeginProgress) => Promise<void>
  /** Sends a small object, with a checksum. @param nowMs Unix time @throws CommandFailure */
  readonly put: (key: string, body: Uint8Array, nowMs: number) => Promise<void>
  /** Returns the first bytes, or all of a shorter entry. */
  readonly readStart: (key: string, bytes: number) => Promise<Uint8Array>
  /** In bytes. @throws CommandFailure if there is no such key */
  readonly sizeOf: (key: string) => Promise<number>
  /** Downloads into a new file. @throws CommandFailure if it is not as long as that */
  readonly download: (key: string, to: Download, progress: BeginProgress) => Promise<void>
  readonly remove: (key: string) => Promise<void>
}

const refusals: readonly (readonly [RegExp, string])[] = [
  [/^NoSuchBucket$/, 'there is no such bucket: make it first'],
  [/^NoSuchKey$/, 'there is no backup of that name in the bucket'],
  [
    /^(?:InvalidAccessKeyId|SignatureDoesNotMatch|AccessDenied|ExpiredToken|InvalidToken)$/,
    'the bucket refuses the credentials: see AWS_ACCESS_KEY_ID and what it may do',
  ],
  [/CERT/, 'the S3 service has a certificate that is not to be trusted'],
  [
    /^(?:Connection|DNS|FailedToOpenSocket|E[A-Z]+$|Timeout)/,
    'the S3 service cannot be reached: see AWS_ENDPOINT_URL, AWS_REGION, IPAddressDeny= of units',
  ],
]

/** @returns the error for a person; errors not from the service are returned unchanged */
function explained(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'S3Error') return error
  const code = systemCodeOf(error) ?? ''
  const known = refusals.find(([pattern]) => pattern.test(code))?.[1]
  const shown = /^\w{1,60}$/.test(code) ? code : 'no code'
  return new CommandFailure(known ?? `the S3 service has failed with ${shown}: try again`, 1, error)
}

const endless = () =>
  new CommandFailure('the S3 service answers more than any backup has: see AWS_ENDPOINT_URL')

const silent = () =>
  new CommandFailure('the S3 service does not go on with its answer: see AWS_ENDPOINT_URL')

/** For answers that are short. */
const answered = <T>(work: Promise<T>, msMax = bucketAnswerMsMax): Promise<T> =>
  within(work, msMax, silent)

/**
 * The client buffers a whole list or error, however long, and it cannot be cancelled: so waiting
 * ends once it has taken that much memory.
 */
async function withinMemory<T>(work: Promise<T>): Promise<T> {
  const bytesMax = process.memoryUsage.rss() + bucketMemoryBytesMax
  const over = Promise.withResolvers<never>()
  const timer = setInterval(() => {
    if (process.memoryUsage.rss() > bytesMax) over.reject(endless())
  }, bucketMemoryLookMs)
  try {
    return await Promise.race([work, over.promise])
  } finally {
    clearInterval(timer)
  }
}

async function ask<T>(task: () => Promise<T>): Promise<T> {
  const work = task()
  try {
    return await withinMemory(work)
  } catch (error) {
    // The abandoned work may fail later, when nobody awaits it.
    work.catch(() => {})
    throw explained(error)
  }
}

type Environment = Readonly<Record<string, string | undefined>>

function accessOf(environment: Environment): S3Access {
  const accessKeyId = environment['AWS_ACCESS_KEY_ID']
  const secretAccessKey = environment['AWS_SECRET_ACCESS_KEY']
  if (!accessKeyId || !secretAccessKey) {
    const expected = 'expected AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment'
    throw usage(`${addressPrefix}: ${expected}`)
  }
  const sessionToken = environment['AWS_SESSION_TOKEN']
  const region = environment['AWS_REGION'] ?? environment['AWS_DEFAULT_REGION'] ?? 'us-east-1'
  const endpoint = environment['AWS_ENDPOINT_URL_S3'] ?? environment['AWS_ENDPOINT_URL']
  return {
    accessKeyId,
    secretAccessKey,
    region,
    ...(sessionToken ? { sessionToken } : {}),
    ...(endpoint ? { endpoint } : {}),
  }
}

interface Passed {
  readonly bytes: number
  readonly digest: string
}

/**
 * Passes on the pieces of a stream, until there were more than `bytesMax`.
 * @returns their total length and digest
 */
async function pass(
  pieces: AsyncIterable<Uint8Array>,
  bytesMax: number,
  take: (piece: Uint8Array) => void | Promise<void>,
): Promise<Passed> {
  const digest = createHash('sha256')
  let bytes = 0
  for await (const piece of pieces) {
    digest.update(piece)
    bytes += piece.length
    await take(piece)
    if (bytes > bytesMax) break
  }
  return { bytes, digest: digest.digest('hex') }
}

/** Passes on a file of the service, as `pass` does. @throws CommandFailure if it stops coming */
const passFrom = (file: Bun.S3File, bytesMax: number, take: Parameters<typeof pass>[2]) =>
  atPace(bucketPace, silent, moved =>
    pass(file.stream(), bytesMax, piece => {
      moved(piece.length)
      return take(piece)
    }),
  )

/** Sends a multipart upload: its parts appear together, or not at all. */
async function send(file: Bun.S3File, path: string, progress: BeginProgress): Promise<Passed> {
  const sent = countBytes(progress(statSync(path).size, 'uploading'))
  const writer = file.writer({ partSize: uploadPartBytes, queueSize: 1, retry: uploadTriesMax })
  const passed = await pass(
    createReadStream(path, { highWaterMark: backupChunkBytes }),
    Infinity,
    async piece => {
      await answered(Promise.resolve(writer.write(piece)), bucketPartMsMax)
      await answered(Promise.resolve(writer.flush()), bucketPartMsMax)
      sent(piece.length)
    },
  )
  await answered(Promise.resolve(writer.end()), bucketPartMsMax)
  return passed
}

async function readBack(file: Bun.S3File, { bytes, digest }: Passed, progress: BeginProgress) {
  const read = countBytes(progress(bytes, 'reading'))
  const found = await passFrom(file, bytes, piece => read(piece.length))
  if (found.bytes === bytes && found.digest === digest) return
  throw new CommandFailure('the backup in the bucket is not what was sent: try again')
}

async function fetchInto(
  file: Bun.S3File,
  { path, bytes: size }: Download,
  progress: BeginProgress,
): Promise<void> {
  const fetched = countBytes(progress(size, 'downloading'))
  const made = await open(path, 'wx', ownerOnlyFile)
  try {
    const { bytes } = await passFrom(file, size, async piece => {
      await made.writeFile(piece)
      fetched(piece.length)
    })
    if (bytes < size) throw new CommandFailure('the download was cut short: try again')
    if (bytes > size) throw endless()
  } finally {
    await made.close()
  }
}

/** Cuts off what the service sends beyond the request. */
async function readFirst(file: Bun.S3File, bytesMax: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  await passFrom(file.slice(0, bytesMax), bytesMax, piece => void pieces.push(piece))
  return Buffer.concat(pieces).subarray(0, bytesMax)
}

/** Lists entries in the order of their keys, page by page, until there are so many. */
async function listFirst(
  client: Bun.S3Client,
  prefix: string,
  entriesMax: number,
): Promise<readonly BucketEntry[]> {
  const listed: BucketEntry[] = []
  for (let startAfter: string | undefined; ;) {
    const from = startAfter === undefined ? {} : { startAfter }
    const { contents = [], isTruncated } = await answered(
      client.list({ prefix, delimiter: '/', ...from }),
    )
    listed.push(...contents.map(({ key, size = 0 }) => ({ key, bytes: size })))
    const last = listed.at(-1)?.key
    // A service that goes on with the same names would be asked until there are very many.
    if (isTruncated === true && last === startAfter) throw endless()
    startAfter = last
    const isEnd = isTruncated !== true || contents.length === 0
    if (isEnd || listed.length >= entriesMax) return listed.slice(0, entriesMax)
  }
}

/** @throws CommandFailure if there are more than `bucketEntriesMax` */
async function listAll(client: Bun.S3Client, prefix: string): Promise<readonly BucketEntry[]> {
  const listed = await listFirst(client, prefix, bucketEntriesMax + 1)
  if (listed.length <= bucketEntriesMax) return listed
  const expected = `expected at most ${bucketEntriesMax} files below the prefix of backups`
  throw new CommandFailure(`the bucket lists more: ${expected}`)
}

/**
 * @param bucket its name
 * @throws CommandFailure if the environment has no credentials
 */
export function openBucket(bucket: string): Bucket {
  const access = accessOf(process.env)
  const client = new Bun.S3Client({ ...access, bucket })
  // The client has no TLS setting that would override this (tried on Bun 1.4.4).
  delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  return {
    // Uses a list, since the client also reports a missing bucket as a missing key.
    has: key =>
      ask(async () => {
        const { contents = [] } = await answered(client.list({ prefix: key, maxKeys: 1 }))
        return contents[0]?.key === key
      }),
    first: (prefix, keysMax) =>
      ask(async () => (await listFirst(client, prefix, keysMax)).map(({ key }) => key)),
    put: (key, body, nowMs) => putSmall(access, { bucket, key, body, nowMs }),
    list: prefix => ask(() => listAll(client, prefix)),
    upload: (key, path, progress) =>
      ask(async () => {
        const file = client.file(key)
        const sent = await send(file, path, progress)
        try {
          await readBack(file, sent, progress)
        } catch (error) {
          await answered(file.delete()).catch(() => {})
          throw error
        }
      }),
    readStart: (key, bytes) => ask(() => readFirst(client.file(key), bytes)),
    sizeOf: key => ask(async () => (await answered(client.file(key).stat())).size),
    download: (key, to, progress) => ask(() => fetchInto(client.file(key), to, progress)),
    remove: key => ask(() => answered(client.delete(key))),
  }
}
