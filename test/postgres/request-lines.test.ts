import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'
import { checkRequestLines } from '../support/request-lines.ts'

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a request line over PostgreSQL', () => {
  // proves S2
  test('tells of key, address, token and what was shown, and nothing more', async () => {
    const server = await sharedPostgres()
    const data = join(temporaryFolder(), 'vault')
    const url = server.url(nextSchema())
    const made = await runCoffer(['init', '--data', data, '--store', url, '--json'])
    expect(made.exitCode).toBe(0)
    const managerKey = String((JSON.parse(made.stdout) as Record<string, unknown>)['key'])
    await checkRequestLines({ folder: ['--data', data], managerKey })
  }, 300_000)
})
