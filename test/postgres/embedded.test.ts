/**
 * A vault in a database that a host embeds, beside others that serve it: the work of one for all is
 * its own only while it holds the lease of that.
 * @module
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openVault } from '../../src/embed.ts'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const sweeps = 3

// .ci/run installs it.
test.skipIf(!isPostgresThere)(
  'an embedded vault sweeps, signs and delivers as the one with the lease alone',
  async () => {
    const { sql, url } = await sharedPostgres()
    const schema = nextSchema()
    const data = join(temporaryFolder(), 'v')
    const { exitCode } = await runCoffer(['init', '--data', data, '--store', url(schema)])
    expect(exitCode).toBe(0)
    await sql.unsafe(`CREATE FUNCTION ${schema}.hold() RETURNS trigger LANGUAGE plpgsql
AS 'BEGIN RETURN NULL; END'`)
    await sql.unsafe(`CREATE TRIGGER hold BEFORE INSERT OR UPDATE ON ${schema}.leases
FOR EACH ROW WHEN (NEW.name = 'sweep') EXECUTE FUNCTION ${schema}.hold()`)
    const { deps, close } = await openVault({ data, log: () => {} })
    const asked = { now: 0, due: 0, logRange: 0 }
    const { now, store } = deps
    const { due, logRange } = store
    Object.assign(deps, { now: () => ((asked.now += 1), now()) })
    Object.assign(store, {
      due: (...window: Parameters<typeof due>) => ((asked.due += 1), due(...window)),
      logRange: () => ((asked.logRange += 1), logRange()),
    })
    await until(() => asked.now >= sweeps || asked.due >= sweeps)
    expect([asked.due, asked.logRange]).toEqual([0, 0])
    await sql.unsafe(`DROP TRIGGER hold ON ${schema}.leases`)
    await until(() => asked.due > 0 && asked.logRange > 0)
    await close()
  },
  300_000,
)
