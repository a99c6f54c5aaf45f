/**
 * Workers of a vault in PostgreSQL, sealed and unsealed together.
 * @module
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'

const asks = 24

// .ci/run installs it.
test.skipIf(!isPostgresThere)(
  'workers over PostgreSQL begin sealed, open, and are sealed',
  async () => {
    const root = temporaryFolder()
    const [data, keyFile] = [join(root, 'vault'), join(root, 'key')]
    const own = ['--data', data, '--master-key-file', keyFile]
    const { url } = await sharedPostgres()
    const made = await runCoffer(['init', ...own, '--store', url(nextSchema()), '--json'])
    const { key } = JSON.parse(made.stdout) as { key: string }
    const serving = ['serve', '--data', data, '--sealed', '--port', '0', '--workers', '2']
    const server = await startCoffer(serving)
    const [address = ''] = server.ready.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? []
    const headers = { 'SVC-API-KEY': key, connection: 'close' }
    const statuses = async () => {
      const one = () => fetch(`${address}/applications/key`, { headers, keepalive: false })
      const answers = await Promise.all(Array.from({ length: asks }, one))
      return [...new Set(answers.map(({ status }) => status))]
    }
    expect(await statuses()).toEqual([503])
    expect((await runCoffer(['unseal', ...own])).exitCode).toBe(0)
    expect(await statuses()).toEqual([200])
    expect((await runCoffer(['app', 'list', ...own])).stdout).toContain('First management')
    expect((await runCoffer(['seal', '--data', data])).exitCode).toBe(0)
    expect(await statuses()).toEqual([503])
    expect(await server.end('SIGTERM')).toBe(0)
  },
)
