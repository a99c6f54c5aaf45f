/**
 * Deliveries from a database that has lost the end of its log, as a failover may: other entries get
 * the sequences of those that were delivered, and are delivered too.
 * @module
 */
import { expect, test } from 'bun:test'
import { openHookedServer } from '../support/hooked-server.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'

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
