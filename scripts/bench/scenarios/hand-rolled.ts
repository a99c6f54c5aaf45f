/**
 * Reads and durable writes against a vault as a small team would write it, with equally many
 * tokens.
 *
 * Writes run for a minute between two checkpoints of PostgreSQL, which writes pages only then.
 * @module
 */
import { rmSync } from 'node:fs'
import { copyDataSet, freshFolder } from '../data-sets.ts'
import { askJson } from '../load.ts'
import { findPostgres, withPostgres, type Cluster } from '../postgres.ts'
import { createCards, readTokens } from '../requests.ts'
import {
  alternate,
  atLeast,
  countText,
  ratioCheck,
  type Bench,
  type Outcome,
  type Scenario,
  type Side,
} from '../scenario.ts'
import { runOn } from '../processor.ts'
import { withCoffer, withHandRolled, type Server } from '../servers.ts'
import { createConnections, creating } from './creates.ts'

const readConnections = 32
const readIds = 1_000
const sustainedSeconds = 60
const sustainedRounds = 2
const key = 'the-key-of-the-hand-rolled-vault'

/** Filler rows like those of the vault, which give the table its full size. */
const fillSql = (rows: number): string => `
insert into tokens (id, tenant, type, container, fingerprint, metadata, mask, data, created_by)
select gen_random_uuid(), t.tenant, t.type, t.container, sha256(n::text::bytea),
  case when n % 2 = 0 then '{"region":"europe"}'::jsonb else '{}'::jsonb end,
  t.mask, sha256(n::text::bytea) || sha256((-n)::text::bytea) || sha256((n * 7)::text::bytea),
  t.created_by
from generate_series(1, ${rows}) as n, (select * from tokens limit 1) as t;`

/** @returns ids of readable tokens */
export async function fillHandRolled(
  server: Server,
  { query }: Cluster,
  tokens: number,
): Promise<string[]> {
  const ids: string[] = []
  for (const request of createCards(key, 0, 1).slice(0, readIds)) {
    ids.push((await askJson<{ id: string }>(server.address, request)).id)
  }
  await query(fillSql(tokens - ids.length))
  await query('vacuum analyze tokens')
  return ids
}

const reading =
  (bench: Bench, server: Server, readKey: string, ids: readonly string[]): Side =>
  () =>
    runOn(bench, server, {
      requests: readTokens(readKey, ids),
      connections: readConnections,
      seconds: bench.seconds,
    })

/** The rate counts the time of the load and of the checkpoint after it. */
const checkpointed =
  ({ query }: Cluster, side: Side): Side =>
  async round => {
    await query('checkpoint')
    const result = await side(round)
    const endedMs = performance.now()
    await query('checkpoint')
    const seconds = result.requests / result.perSecond + (performance.now() - endedMs) / 1_000
    return { ...result, perSecond: result.requests / seconds }
  }

async function compare(bench: Bench, cluster: Cluster, coffer: Server, tokens: number) {
  const { facts } = await bench.vault(tokens)
  return withHandRolled(cluster.host, key, async other => {
    const ids = await fillHandRolled(other, cluster, tokens)
    const reads = await alternate(bench, {
      coffer: reading(bench, coffer, facts.keys.reveal, facts.cardIds),
      'hand-rolled': reading(bench, other, key, ids),
    })
    const long = { ...bench, seconds: sustainedSeconds, rounds: sustainedRounds }
    const writes = await alternate(long, {
      coffer: creating(long, coffer, facts.keys.create),
      'hand-rolled': checkpointed(cluster, creating(long, other, key)),
    })
    return { reads, writes }
  })
}

type Compared = Awaited<ReturnType<typeof compare>>

function outcomeOf({ reads, writes }: Compared, tokens: number, version: string): Outcome {
  const than = `${countText(tokens)} tokens, against Fastify and PostgreSQL: rate`
  const checkOf = (key: string, what: string, times: number, sides: Compared['reads']) =>
    ratioCheck(
      { key, what: `${what}, ${than}`, target: atLeast(times), isSteady: true },
      'perSecond',
      sides.coffer,
      sides['hand-rolled'],
    )
  return {
    notes: [
      `PostgreSQL ${version}; ${createConnections} connections for creates`,
      'processor time of the hand-rolled vault is that of Fastify alone',
    ],
    sides: {
      'coffer, reads': reads.coffer,
      'hand-rolled, reads': reads['hand-rolled'],
      'coffer, writes': writes.coffer,
      'hand-rolled, writes': writes['hand-rolled'],
    },
    checks: [
      checkOf('hand-rolled.reads', 'GET /tokens/{id}, revealed', 4, reads),
      checkOf('hand-rolled.writes', 'POST /tokens, durable, for a minute', 1.5, writes),
    ],
  }
}

async function measure(bench: Bench): Promise<Outcome> {
  const programs = findPostgres()
  if (programs === undefined) return { checks: [], skipped: 'PostgreSQL is not installed' }
  const tokens = bench.tokens.large
  const vault = copyDataSet(await bench.vault(tokens), freshFolder(bench.folder))
  const outcome = await withPostgres(programs, cluster =>
    withCoffer(bench, vault.folder, async coffer =>
      outcomeOf(await compare(bench, cluster, coffer, tokens), tokens, cluster.version),
    ),
  )
  rmSync(vault.folder, { recursive: true })
  return outcome
}

export const handRolledScenarios: readonly Scenario[] = [
  { name: 'hand-rolled', isFullOnly: true, run: measure },
]
