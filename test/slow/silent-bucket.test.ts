/**
 * A bucket that falls silent, or drips: commands give it up, with one line each.
 * @module
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const name = 'coffer-20260101T000000Z.backup'
const listed =
  '<ListBucketResult><IsTruncated>false</IsTruncated><Contents>' +
  `<Key>p/${name}</Key><Size>5000000</Size></Contents></ListBucketResult>`
const head = (bytes: number): string => `HTTP/1.1 200 OK\r\ncontent-length: ${bytes}\r\n`

function drip(socket: Socket): void {
  socket.write(`${head(5_000_000)}\r\n`)
  const timer = setInterval(() => socket.write('a'), 1_000)
  socket.on('close', () => clearInterval(timer))
}

/** The bucket `silent` never answers; `drips` has one file, and sends it byte by byte. */
function answer(socket: Socket, request: string): void {
  if (request.includes('/silent')) return
  if (request.startsWith('HEAD'))
    return void socket.end(`${head(5_000_000)}connection: close\r\n\r\n`)
  if (!request.includes('list-type')) return drip(socket)
  socket.end(`${head(listed.length)}connection: close\r\n\r\n${listed}`)
}

let server: Server
let folder: string
let words: readonly string[]
let env: Readonly<Record<string, string>>
beforeAll(async () => {
  server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', bytes => answer(socket, bytes.toString('latin1')))
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  folder = temporaryFolder()
  words = ['--data', join(folder, 'vault'), '--master-key-file', join(folder, 'master.key')]
  await runCoffer(['init', ...words])
  const endpoint = `http://127.0.0.1:${port}`
  env = { AWS_ACCESS_KEY_ID: 'any', AWS_SECRET_ACCESS_KEY: 'any', AWS_ENDPOINT_URL: endpoint }
})
afterAll(() => server.close())

const restored = () => ['--data', join(folder, 'restored'), ...words.slice(2), '--keep-keys']

// proves E28.1
test.concurrent.each<[string, () => readonly string[]]>([
  ['a list of a silent one', () => ['backup', 'list', 's3://silent/p', ...words]],
  ['a backup into a silent one', () => ['backup', '--to', 's3://silent/p/x', ...words]],
  ['a list of one that drips', () => ['backup', 'list', 's3://drips/p', ...words]],
  ['a restore from one that drips', () => ['restore', `s3://drips/p/${name}`, ...restored()]],
])(
  '%s is given up',
  async (_, command) => {
    const { exitCode, stdout, stderr } = await runCoffer(command(), { env })
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^coffer: the S3 service does not go on with its answer[^\n]+\n$/)
  },
  300_000,
)
