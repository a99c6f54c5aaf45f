/**
 * The folder that took a vault out of PostgreSQL is lost: the database serves it again, as
 * `docs/many-machines.md` says, and keys are replaced there.
 * @module
 */
import { expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'
import { expectRefused } from './refused.ts'

const page = readFileSync(resolve(import.meta.dir, '../../docs/many-machines.md'), 'utf8')
const remedy = /`(UPDATE coffer\.state SET format = \d+)`/.exec(page)?.[1] ?? 'nothing'

test.skipIf(!isPostgresThere)(
  'a database whose vault a lost folder took serves again, and is rekeyed',
  async () => {
    const [server, schema, root] = [await sharedPostgres(), nextSchema(), temporaryFolder()]
    const [data, other, key] = [join(root, 'vault'), join(root, 'other'), join(root, 'key')]
    const url = server.url(schema)
    await runCoffer(['init', '--data', data, '--store', url])
    expect(await runCoffer(['move', '--data', data, '--to', 'folder'])).toMatchObject({
      exitCode: 0,
    })
    copyFileSync(join(data, 'master.key'), key)
    rmSync(data, { recursive: true })
    mkdirSync(other)
    const found = ['--data', other, '--store', url, '--master-key-file', key]
    expectRefused(await runCoffer(['keys', 'rekey', ...found]), 'into a folder')

    await server.sql.unsafe(remedy.replace('coffer.', `${schema}.`))
    const live = "('other', '\\x01', now() + interval '1 hour')"
    await server.sql.unsafe(`INSERT INTO ${schema}.leases VALUES ${live}`)
    expectRefused(await runCoffer(['keys', 'rekey', ...found]), 'others that serve it')
    await server.sql.unsafe(`DELETE FROM ${schema}.leases WHERE name = 'other'`)
    expect(await runCoffer(['keys', 'rekey', ...found])).toMatchObject({ exitCode: 0 })
    expect(await runCoffer(['verify', ...found])).toMatchObject({ exitCode: 0 })
  },
  300_000,
)
