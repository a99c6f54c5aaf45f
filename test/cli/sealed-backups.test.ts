/**
 * A server that makes backups of itself, and is sealed while one is under way: the process of a
 * backup has the master key.
 * @module
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(120_000)

let service: Bun.Server<undefined>
let uploads = 0

/** A bucket that is empty, and never answers what is sent to it. */
beforeAll(() => {
  service = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch({ method }) {
      if (method === 'GET') return new Response('<ListBucketResult></ListBucketResult>')
      uploads += 1
      return new Promise<Response>(() => {})
    },
  })
})

afterAll(async () => service.stop(true))

const backupsOf = (parent: number): string[] =>
  readFileSync(`/proc/${parent}/task/${parent}/children`, 'latin1')
    .split(' ')
    .filter(pid => pid !== '')
    .filter(pid => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('scheduled-backup'))

// proves S87
test.skipIf(process.platform !== 'linux').each([1, 2])(
  'no backup goes on or begins in a sealed vault, of %d processes',
  async workers => {
    const folder = temporaryFolder()
    const data = join(folder, 'vault')
    const words = ['--data', data, '--master-key-file', join(folder, 'key')]
    expect(await runCoffer(['init', ...words])).toMatchObject({ exitCode: 0 })
    const env = {
      AWS_ACCESS_KEY_ID: 'any',
      AWS_SECRET_ACCESS_KEY: 'any',
      AWS_ENDPOINT_URL: service.url.origin,
    }
    const more = ['--port', '0', '--workers', String(workers), '--backup-to', 's3://bucket/there']
    const before = uploads
    const server = await startCoffer(['serve', ...words, ...more], { env })
    await until(async () => uploads > before)
    expect(backupsOf(server.pid)).toHaveLength(1)
    expect(await runCoffer(['seal', '--data', data])).toMatchObject({ exitCode: 0 })
    expect(backupsOf(server.pid)).toEqual([])
    expect(await runCoffer(['unseal', ...words])).toMatchObject({ exitCode: 0 })
    await until(async () => uploads > before + 1)
    expect(backupsOf(server.pid)).toHaveLength(1)
    expect(await server.end('SIGTERM')).toBe(0)
  },
)
