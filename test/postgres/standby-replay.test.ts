/**
 * An operation under an idempotency key that was never answered, since no synchronous standby had
 * it, is replayed no earlier than that.
 * @module
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import {
  isPostgresThere,
  nextSchema,
  startPostgres,
  startStandby,
  type TestServer,
} from '../support/postgres.ts'
import { addReader, ask, serve } from './served.ts'

const logOf = (schema: string) =>
  `SELECT next_seq::text || md5(coalesce(string_agg(value, '' ORDER BY key), '')) AS state
FROM ${schema}.log_range, ${schema}.derived GROUP BY next_seq`
const receivers = `SELECT pid FROM pg_stat_activity WHERE backend_type = 'walsender'`
const cancelWaits = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
WHERE wait_event = 'SyncRep'`

/** Waits until no checkpoint is due: one that waits would keep a create from being sent. */
async function untilSigned({ sql }: TestServer, schema: string): Promise<void> {
  const states: unknown[] = []
  while (states.length < 4 || new Set(states.slice(-4)).size > 1) {
    states.push((await sql.unsafe(logOf(schema)))[0]?.state)
    await Bun.sleep(500)
  }
}

// .ci/run installs it.
test.skipIf(!isPostgresThere)(
  'a repetition is not told of a token that no standby has, and then of that very one',
  async () => {
    const primary = await startPostgres({ hba: ['local replication postgres trust'] })
    const standby = await startStandby(primary)
    const set = async (names: string) => {
      await primary.sql.unsafe(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
      await primary.sql.unsafe('SELECT pg_reload_conf()')
    }
    const data = join(temporaryFolder(), 'v')
    const schema = nextSchema()
    const url = primary.url(schema)
    const made = await runCoffer(['init', '--data', data, '--store', url, '--json'])
    const { key: managementKey } = JSON.parse(made.stdout) as { key: string }
    const socket = join(data, 'api.sock')
    const vault = await serve(data, socket)
    const key = await addReader(socket, managementKey)
    // A reading that reveals would wait for a standby, since its entry in the audit log does.
    const redacted = await addReader(socket, managementKey, 'redact')
    const create = async () => {
      const headers = {
        'SVC-API-KEY': key,
        'SVC-IDEMPOTENCY-KEY': 'once',
        'Content-Type': 'application/json',
      }
      const body = JSON.stringify({ type: 'token', data: 'held' })
      const answer = await fetch('http://localhost/tokens', {
        method: 'POST',
        headers,
        body,
        unix: socket,
      } as RequestInit)
      return { status: answer.status, body: (await answer.json()) as { id?: string } }
    }
    const found = async () => {
      const { body } = await ask(socket, redacted, '/tokens')
      return (body['data'] as { id: string }[]).map(({ id }) => id)
    }
    await standby.stop()
    while ((await primary.sql.unsafe(receivers)).length > 0) await Bun.sleep(10)

    /** Cancels each wait, so that the row stands on the primary alone. */
    const cancelled = async <T>(asked: Promise<T>): Promise<T> => {
      let isOver = false
      void asked.catch(() => {}).finally(() => (isOver = true))
      while (!isOver) {
        await primary.sql.unsafe(cancelWaits)
        await Bun.sleep(5)
      }
      return asked
    }
    let ids: readonly string[] = []
    // A busy machine may give a create up before it has made its row.
    while (ids.length === 0) {
      await set('')
      await untilSigned(primary, schema)
      await set('*')
      expect((await cancelled(create())).status).toBe(503)
      ids = await found()
    }
    const [id, ...more] = ids
    expect(more).toEqual([])
    const again = await cancelled(create())
    expect([again.status, JSON.stringify(again.body).includes(String(id))]).toEqual([503, false])
    await set('')
    expect(await create()).toMatchObject({ status: 201, body: { id } })
    expect(await found()).toEqual([String(id)])
    expect(await vault.end('SIGTERM')).toBe(0)
    await primary.stop()
  },
  300_000,
)
