/**
 * Rows that a database administrator can put back, and the events that end that.
 * @module
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { askOnce } from '../support/connection.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'

const changes = [['rotate'], ['retire'], ['rekey', '--forget-old-key']]

// .ci/run installs it.
test.skipIf(!isPostgresThere)(
  'rows that are put back with their keyring open after it was retired, not after a rekey',
  async () => {
    const server = await sharedPostgres()
    const schema = nextSchema()
    const root = temporaryFolder()
    const [data, socket] = [join(root, 'vault'), join(root, 'socket')]
    const run = (sql: string) => server.sql.unsafe(sql.replaceAll('@', `${schema}.`))
    const made = await runCoffer(['init', '--data', data, '--store', server.url(schema), '--json'])
    const { key } = JSON.parse(made.stdout) as { key: string }
    await run('CREATE TABLE @kept AS SELECT * FROM @rows')
    await run('CREATE TABLE @led AS SELECT * FROM @uniques')
    const putBack = async (): Promise<void> => {
      await run('DELETE FROM @rows')
      await run('INSERT INTO @rows SELECT * FROM @kept')
      await run('UPDATE @uniques u SET version = l.version FROM @led l WHERE u.ordinal = l.ordinal')
    }
    const keys = async ([...words]: readonly string[]): Promise<void> => {
      const { exitCode, stderr } = await runCoffer(['keys', ...words, '--data', data])
      expect([words, exitCode]).toEqual([words, 0])
      expect(stderr).toMatch(/^(?:sealing: 100 %\n)?$/)
    }

    for (const words of changes.slice(0, 2)) await keys(words)
    await putBack()
    const vault = await startCoffer(['serve', '--data', data, '--socket', socket])
    const answer = await askOnce({ unix: socket }, 'GET', '/applications', { key })
    expect(answer.status).toBe(200)
    await vault.end('SIGTERM')

    for (const words of changes) await keys(words)
    await putBack()
    const refused = await runCoffer(['serve', '--data', data, '--socket', socket])
    expect([refused.exitCode, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toMatch(/master key/)
  },
  300_000,
)
