/**
 * An address that is named as a bucket and answers without an end: it is refused in one line, and
 * takes a bounded part of the machine's memory.
 * @module
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { until } from '../support/until.ts'

/** Length of an answer: far more than one process may take of it. */
const endlessBytes = 4 * 1024 * 1024 * 1024
const pieceBytes = 1024 * 1024
const msMax = 300_000

const entry = (key: string) => `<Contents><Key>${key}</Key><Size>5000000</Size></Contents>`
const list = (isTruncated: boolean, ...keys: readonly string[]) =>
  `<?xml version="1.0"?><ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>` +
  `${keys.map(entry).join('')}</ListBucketResult>`

/** @param told how many bytes were taken of it */
function endless(first: string | Uint8Array, told: (bytes: number) => void): ReadableStream {
  const piece = Buffer.alloc(pieceBytes, 'a')
  let bytes = 0
  return new ReadableStream({
    start: controller => controller.enqueue(Buffer.from(first)),
    pull(controller) {
      if (bytes >= endlessBytes) return controller.close()
      bytes += pieceBytes
      told(bytes)
      controller.enqueue(piece)
    },
  })
}

type Behaviour = 'pages' | 'page' | 'same page' | 'file'
let behaviour: Behaviour
let taken = 0
let pages = 0
/** Length of a file as it is told, and its first bytes. */
let fileBytes: number
let begins: Uint8Array
beforeEach(() => {
  fileBytes = 5_000_000
  begins = new Uint8Array()
})
const told = (bytes: number): void => {
  taken = bytes
}

function answer({ url, method }: Request): Response {
  if (method === 'HEAD') {
    return new Response(null, { headers: { 'content-length': String(fileBytes) } })
  }
  const asked = new URL(url).searchParams
  if (!asked.has('list-type')) return new Response(endless(begins, told))
  const prefix = asked.get('prefix') ?? ''
  if (behaviour === 'page') return new Response(endless('<ListBucketResult><Contents><Key>', told))
  if (behaviour === 'file') {
    return new Response(list(false, `${prefix}coffer-20260101T000000Z.backup`))
  }
  pages += 1
  if (behaviour === 'same page') return new Response(list(true, `${prefix}always`))
  const keys = Array.from({ length: 1_000 }, (_, at) => `${prefix}${pages}-${at}`)
  return new Response(list(true, ...keys))
}

describe('a bucket without an end', () => {
  let server: Bun.Server<undefined>
  let words: readonly string[]
  let env: Readonly<Record<string, string>>
  let folder: string

  beforeAll(async () => {
    server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
    folder = temporaryFolder()
    words = ['--data', join(folder, 'vault'), '--master-key-file', join(folder, 'master.key')]
    await runCoffer(['init', ...words])
    env = {
      AWS_ACCESS_KEY_ID: 'any',
      AWS_SECRET_ACCESS_KEY: 'any',
      AWS_ENDPOINT_URL: `http://127.0.0.1:${server.port}`,
    }
  })
  afterAll(() => server.stop(true))

  const run = (does: Behaviour, ...command: readonly string[]) => {
    behaviour = does
    taken = 0
    return runCoffer([...command], { env })
  }

  // proves E28.1
  test(
    'that has always one more page is no place for backups',
    async () => {
      const ended = await run('pages', 'backup', 'list', 's3://bucket/p', ...words)
      expect([ended.exitCode, ended.stdout]).toEqual([1, ''])
      expect(ended.stderr).toMatch(/^coffer: the bucket lists more: expected at most [^\n]+\n$/)
    },
    msMax,
  )

  // proves E28.1
  test(
    'that has always the same page is asked for it twice',
    async () => {
      pages = 0
      const ended = await run('same page', 'backup', 'list', 's3://bucket/p', ...words)
      expect([ended.exitCode, ended.stdout, pages]).toEqual([1, '', 2])
      expect(ended.stderr).toMatch(/^coffer: the S3 service answers more than any backup [^\n]+\n$/)
    },
    msMax,
  )

  // proves E28.1
  test(
    'whose page does not end is given up',
    async () => {
      const ended = await run('page', 'backup', 'list', 's3://bucket/p', ...words)
      expect([ended.exitCode, ended.stdout]).toEqual([1, ''])
      expect(ended.stderr).toMatch(/^coffer: the S3 service answers more than any backup [^\n]+\n$/)
      expect(taken).toBeLessThan(endlessBytes)
    },
    msMax,
  )

  // proves E28.1
  test(
    'whose file does not end is read as far as it says that it is',
    async () => {
      const listed = await run('file', 'backup', 'list', 's3://bucket/p', ...words, '--json')
      expect([listed.exitCode, listed.stderr]).toEqual([0, ''])
      expect(JSON.parse(listed.stdout)).toMatchObject({ backups: [{ state: 'not_a_backup' }] })
      expect(taken).toBeLessThan(endlessBytes / 8)
      const restored = join(folder, 'restored')
      const into = ['--data', restored, '--master-key-file', join(folder, 'master.key')]
      const ended = await run('file', 'restore', 's3://bucket/p/x', ...into, '--keep-keys')
      expect([ended.exitCode, ended.stdout]).toEqual([1, ''])
      expect(ended.stderr).toMatch(/^coffer: the file at [^\n]+ is not a backup of coffer\n$/)
      expect(taken).toBeLessThan(endlessBytes / 8)
      expect(existsSync(restored)).toBe(false)
    },
    msMax,
  )

  // proves E28.1
  test(
    'that begins with a backup takes no more of the disk than that',
    async () => {
      const backup = join(folder, 'one.backup')
      expect((await runCoffer(['backup', ...words, '--to', backup])).exitCode).toBe(0)
      begins = readFileSync(backup)
      const into = [
        '--data',
        join(folder, 'again'),
        '--master-key-file',
        join(folder, 'master.key'),
      ]
      const restore = ['restore', 's3://bucket/p/x', ...into, '--keep-keys']
      fileBytes = endlessBytes
      const claimed = await run('file', ...restore)
      expect([claimed.exitCode, claimed.stdout]).toEqual([1, ''])
      expect(claimed.stderr).toMatch(
        /^coffer: the backup at [^\n]+ is damaged or cut short[^\n]+\n$/,
      )
      fileBytes = begins.length
      const ended = await run('file', ...restore)
      expect([ended.exitCode, ended.stdout]).toEqual([1, ''])
      expect(ended.stderr).toMatch(/^coffer: the S3 service answers more than any backup [^\n]+\n$/)
      expect(taken).toBeLessThan(endlessBytes / 8)
    },
    msMax,
  )

  // proves E28.1
  test(
    'keeps no server from serving, which says that it has no backup',
    async () => {
      behaviour = 'page'
      const to = ['--backup-to', 's3://bucket/p']
      const serving = await startCoffer(['serve', ...words, '--port', '0', ...to], { env })
      // On a busy machine a first try may fail otherwise.
      await until(() => serving.said().includes('the S3 service answers more than any backup has'))
      expect(serving.said()).toContain('"event":"backup_failed"')
      expect(await serving.end('SIGTERM')).toBe(0)
    },
    msMax,
  )
})
