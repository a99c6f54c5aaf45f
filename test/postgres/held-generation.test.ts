/**
 * Gain of a database administrator who holds the generation still, and for how long it lasts.
 * @module
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { credentialCacheMsMax } from '../../src/limits/work-limits.ts'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'
import { ask, serve } from './served.ts'

// .ci/run installs it.
test.skipIf(!isPostgresThere)(
  'a revoked key is refused within a minute, also where nothing tells of it',
  async () => {
    const { sql, url } = await sharedPostgres()
    const schema = nextSchema()
    const data = join(temporaryFolder(), 'v')
    const made = await runCoffer(['init', '--data', data, '--store', url(schema), '--json'])
    const { key: managementKey } = JSON.parse(made.stdout) as { key: string }
    const socket = join(data, 'api.sock')
    const vault = await serve(data, socket)
    const body = { name: 'reader', type: 'private', permissions: ['token:create', 'token:read'] }
    const { body: reader } = await ask(socket, managementKey, '/applications', body)
    const key = String(reader['key'])
    const token = await ask(socket, key, '/tokens', { type: 'token', data: 'held' })
    const read = async () => (await ask(socket, key, `/tokens/${String(token.body['id'])}`)).status
    const sinceMs = performance.now()
    expect(await read()).not.toBe(401)
    await sql.unsafe(`CREATE FUNCTION ${schema}.hold() RETURNS trigger LANGUAGE plpgsql
AS 'BEGIN NEW.generation := OLD.generation; RETURN NEW; END'`)
    await sql.unsafe(`CREATE TRIGGER hold BEFORE UPDATE ON ${schema}.state
FOR EACH ROW EXECUTE FUNCTION ${schema}.hold()`)
    const path = `/applications/${String(reader['id'])}`
    expect((await ask(socket, managementKey, path, undefined, 'DELETE')).status).toBe(204)
    expect(await read()).not.toBe(401)
    while ((await read()) !== 401) {
      expect(performance.now() - sinceMs).toBeLessThan(credentialCacheMsMax + 240_000)
      await Bun.sleep(500)
    }
    await vault.end('SIGTERM')
  },
  300_000,
)
