/**
 * Deliveries from a database that has lost the end of its log, as a failover may: other entries get
 * the sequences of those that were delivered, and are delivered too.
 * @module
 */
import { expect, test } from 'bun:test'
import { placeMarkKey } from '../../src/audit/derived-keys.ts'
import { makeLogEnd } from '../../src/audit/log-end.ts'
import { openAt, tablesAt } from '../store/postgres/subject.ts'
import { openHookedServer } from '../support/hooked-server.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'
import { seededBytes } from '../support/seeded.ts'
import { until } from '../support/until.ts'
import { idsOf, startWebhookReceiver } from '../support/webhook-receiver.ts'
import { openHookVault } from '../support/webhooks.ts'

// proves C18.4
// .ci/run installs it.
test.skipIf(!isPostgresThere)(
  'events of a log that went back arrive, whether it is shorter by then or longer',
  async () => {
    const { sql, url } = await sharedPostgres()
    const schema = nextSchema()
    const run = (text: string) => sql.unsafe(text.replaceAll('@', `${schema}.`))
    const hooked = await openHookedServer({ init: ['--store', url(schema)] })
    const work = async (name: string, count: number): Promise<void> => {
      let made = 0
      const done = await hooked.work(name, () => (made += 1) > count)
      expect(done).toHaveLength(2 * count)
      await hooked.receive(done)
    }
    /** Loses what was written since it was copied, all at once. */
    const loseEnd = () =>
      run(`DELETE FROM @log WHERE seq >= (SELECT next_seq FROM @kept_range);
        UPDATE @log_range SET next_seq = (SELECT next_seq FROM @kept_range);
        DELETE FROM @derived;
        INSERT INTO @derived SELECT * FROM @kept_derived`)

    await work('first', 3)
    await run(`CREATE TABLE @kept_range AS SELECT next_seq FROM @log_range;
      CREATE TABLE @kept_derived AS SELECT * FROM @derived`)
    for (const [name, lost, next] of [
      ['shorter', 5, 2],
      ['longer', 2, 5],
    ] as const) {
      await work(`lost-${name}`, lost)
      await loseEnd()
      await work(name, next)
    }
    await hooked.end()
  },
  300_000,
)

const openOverPostgres = (seed: number) => openHookVault(seed, undefined, folder => openAt(folder))

type Vault = Awaited<ReturnType<typeof openOverPostgres>>

/** Loses the entries from a sequence on, and nothing else. */
async function loseEntries({ folder }: Vault, from: number): Promise<void> {
  const { sql } = await sharedPostgres()
  const { log, logRange } = tablesAt(folder)
  await sql.unsafe(`DELETE FROM ${log} WHERE seq >= ${from};
    UPDATE ${logRange} SET next_seq = ${from}`)
}

const nextOf = async ({ deps }: Vault): Promise<number> => {
  await deps.audit.flush()
  return (await deps.store.logRange()).next
}

// proves C18.4
// .ci/run installs it.
test.skipIf(!isPostgresThere)(
  'a place behind lost entries is not saved: what gets their sequences arrives',
  async () => {
    using receiver = await startWebhookReceiver()
    const vault = await openOverPostgres(460)
    await vault.hook(receiver.url, ['token.created'])
    await vault.makeTokens('kept')
    await vault.deliverUntil(() => idsOf(receiver).includes('kept'))
    await vault.restart()
    const from = await nextOf(vault)
    await vault.makeTokens('lost-1', 'lost-2', 'lost-3')
    // Their place is not saved yet: no time passes.
    await vault.tick()
    await until(() => idsOf(receiver).includes('lost-3'))
    await loseEntries(vault, from)
    await vault.restart()
    const later = ['later-1', 'later-2', 'later-3', 'later-4']
    await vault.makeTokens(...later)
    await vault.deliverUntil(() => later.every(id => idsOf(receiver).includes(id)))
  },
  300_000,
)

// .ci/run installs it.
test.skipIf(!isPostgresThere)(
  'what is required of a log holds until entries that were read are lost',
  async () => {
    const vault = await openOverPostgres(461)
    const { store } = vault.deps
    const key = Uint8Array.of(...placeMarkKey, 1)
    const save = (required: Awaited<ReturnType<typeof logEnd.requirement>>) =>
      store.write([...(required ? [required] : []), { derived: key, value: Uint8Array.of(1) }])
    const logEnd = makeLogEnd({ store, randomBytes: seededBytes(461) }, placeMarkKey)
    const from = await nextOf(vault)
    await vault.makeTokens('first', 'second')
    expect(await logEnd.look(await store.logRange())).toBe(true)
    const held = await logEnd.requirement()
    expect(await save(held)).toMatchObject({ ok: true })
    await loseEntries(vault, from)
    await vault.makeTokens('other', 'another')
    await nextOf(vault)
    expect(await logEnd.requirement()).toBeUndefined()
    // The mark of before is gone, as a database loses it with the entries before it.
    expect(await save(held)).toMatchObject({ ok: false, reason: 'version_moved' })
    expect(await logEnd.look(await store.logRange())).toBe(false)
    expect(await logEnd.look(await store.logRange())).toBe(false)
  },
  60_000,
)
