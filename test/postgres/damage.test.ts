/**
 * A database that somebody has changed by hand: each damage is named, and never shown to a caller.
 * @module
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import {
  isPostgresThere,
  nextSchema,
  sharedPostgres,
  type TestServer,
} from '../support/postgres.ts'

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('in a database that somebody has changed', () => {
  let server: TestServer
  let data: string
  let schema: string
  const run = async (sql: string): Promise<void> => {
    await server.sql.unsafe(sql.replaceAll('@', `${schema}.`))
  }
  const verify = () => runCoffer(['verify', '--data', data, '--json'])
  beforeEach(async () => {
    server = await sharedPostgres()
    data = join(temporaryFolder(), 'vault')
    schema = nextSchema()
    const made = await runCoffer(['init', '--data', data, '--store', server.url(schema)])
    expect(made.exitCode).toBe(0)
  })

  // proves E24.10
  test.each([
    ['a row that is gone', 'DELETE FROM @rows WHERE ordinal = 3', 'unique_orphan'],
    ['a unique that is gone', 'DELETE FROM @uniques WHERE ordinal = 3', 'unique_missing'],
    [
      'a unique that leads elsewhere',
      'UPDATE @uniques SET ordinal = 2 WHERE ordinal = 3',
      'unique_missing',
    ],
    [
      'a version that was put back',
      'UPDATE @uniques SET version = 2 WHERE ordinal = 3',
      'unique_missing',
    ],
    [
      'two rows that were swapped',
      `UPDATE @rows r SET value = o.value FROM @rows o
WHERE (r.ordinal, o.ordinal) IN ((2, 3), (3, 2))`,
      'unique_missing',
    ],
    [
      'a row whose bytes were flipped',
      'UPDATE @rows SET value = set_byte(value, 40, get_byte(value, 40) # 1) WHERE ordinal = 3',
      'row_damaged',
    ],
    [
      'a value whose bytes were flipped',
      `UPDATE @rows SET value =
set_byte(value, length(value) - 1, get_byte(value, length(value) - 1) # 1) WHERE ordinal = 3`,
      'value_damaged',
    ],
    ['terms that are gone', 'DELETE FROM @recent WHERE ordinal = 3', 'term_missing'],
    [
      'terms of no row',
      `INSERT INTO @recent VALUES (9, decode(repeat('ab', 16), 'hex'))`,
      'tail_orphan',
    ],
    [
      'a chunk of no row',
      `INSERT INTO @chunks VALUES (0, decode(repeat('ab', 16), 'hex'), '\\x0900')`,
      'term_orphan',
    ],
    [
      'a deadline that is no row’s',
      'UPDATE @rows SET deadline_ms = 5 WHERE ordinal = 3',
      'deadline',
    ],
    ['a key that was dropped', 'ALTER TABLE @uniques DROP CONSTRAINT uniques_pkey', 'meta_damaged'],
    [
      'a key that was dropped where another table has one',
      `ALTER TABLE @recent DROP CONSTRAINT recent_pkey;
CREATE TABLE @another (n int PRIMARY KEY)`,
      'meta_damaged',
    ],
    ['a row before the first', 'UPDATE @rows SET ordinal = -7 WHERE ordinal = 3', 'meta_damaged'],
    [
      'a chunk of an ordinal that no row has come to',
      `INSERT INTO @chunks VALUES (2147483647, decode(repeat('ab', 16), 'hex'), '\\x0900')`,
      'term_orphan',
    ],
    [
      'terms of an ordinal that is no ordinal',
      `INSERT INTO @recent VALUES (1::bigint << 62, decode(repeat('ab', 16), 'hex'))`,
      'tail_orphan',
    ],
    [
      'a row at the last ordinal that a column holds',
      `INSERT INTO @rows VALUES (9223372036854775807, 1, NULL, '\\x00')`,
      'row_damaged',
    ],
    [
      'terms of the last ordinal but one',
      `INSERT INTO @recent VALUES (9223372036854775806, decode(repeat('ab', 16), 'hex'))`,
      'tail_orphan',
    ],
    [
      'a row at an ordinal that no number is',
      `INSERT INTO @rows VALUES ((1::bigint << 53) + 1, 1, NULL, '\\x00')`,
      'row_damaged',
    ],
    ['ordinals that begin anew', `SELECT setval('@ordinals', 1)`, 'meta_damaged'],
    ['a log that ends early', 'UPDATE @log_range SET next_seq = next_seq + 1', 'log_damaged'],
    ['a log without a range', 'DELETE FROM @log_range', 'log_damaged'],
    [
      'a log with two ranges',
      `ALTER TABLE @log_range DROP CONSTRAINT log_range_one_check;
INSERT INTO @log_range VALUES (false, 0, 0)`,
      'log_damaged',
    ],
    [
      'a log without its oldest entry, which the vault has not pruned',
      `DELETE FROM @log; UPDATE @log_range SET from_seq = 1, next_seq = 1;
INSERT INTO @derived VALUES ('\\x06', '\\x000000000001' || decode(repeat('ab', 32), 'hex'))`,
      'log_cut_off',
    ],
    [
      'bytes of the log that are no bundle',
      `INSERT INTO @log SELECT next_seq, '\\x0100' FROM @log_range;
UPDATE @log_range SET next_seq = next_seq + 1`,
      'log_damaged',
    ],
    [
      'a log with a gap',
      `INSERT INTO @log SELECT next_seq + 1, '\\x010001' || decode(repeat('ab', 32), 'hex')
FROM @log_range;
UPDATE @log_range SET next_seq = next_seq + 2`,
      'log_damaged',
    ],
    [
      'a bundle at a sequence that no number is',
      `INSERT INTO @log VALUES (9223372036854775807, '\\x00')`,
      'log_damaged',
    ],
  ])('%s is named by verify', async (_, sql, kind) => {
    expect((await verify()).exitCode).toBe(0)
    await run(sql)
    const { exitCode, stdout, stderr } = await verify()
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining(kind)])
    expect(stderr).toContain('is damaged')
  })

  // proves E24.10
  test('a table that cannot be read is told of in a line by verify', async () => {
    await run(`ALTER TABLE @rows ALTER COLUMN value TYPE text USING encode(value, 'hex')`)
    const { exitCode, stderr } = await verify()
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/^coffer: cannot look at all of /),
    ])
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  test.each([
    ['of a newer format', 'UPDATE @state SET format = 99', 'use the newer coffer that wrote it'],
    ['of an older format', 'UPDATE @state SET format = 0', 'were never released: export its'],
    ['that are half moved', 'UPDATE @state SET format = -1', 'being moved'],
    ['of which one is missing', 'DROP TABLE @rows', 'not all of its tables'],
    ['that take no reads', 'ALTER TABLE @state RENAME TO other', 'has no vault'],
  ])('tables %s are not opened', async (_, sql, says) => {
    await run(sql)
    const { exitCode, stderr } = await runCoffer(['keys', 'status', '--data', data])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(says)])
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(stderr).not.toMatch(/postgres:\/\/|[0-9a-f]{16}/)
  })
})
