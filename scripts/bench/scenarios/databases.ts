/**
 * Compares the vault over PostgreSQL with itself in its own store, and with a vault as a small team
 * would write it over the same PostgreSQL: equally many tokens, the same cluster, one run.
 * @module
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { runToEnd } from '../child.ts'
import { copyDataSet, freshFolder, type DataSet } from '../data-sets.ts'
import { findPostgres, withPostgres, type Cluster } from '../postgres.ts'
import { readTokens, searchBoth } from '../requests.ts'
import {
  alternate,
  atLeast,
  atMost,
  countText,
  pick,
  ratioCheck,
  type Bench,
  type Check,
  type Outcome,
  type Scenario,
  type Side,
} from '../scenario.ts'
import { runOn } from '../processor.ts'
import { withCoffer, withHandRolled, type Server } from '../servers.ts'
import { creating } from './creates.ts'
import { fillHandRolled } from './hand-rolled.ts'

const connections = 32
/** For searches: more would only measure how long they wait for the two processors. */
const searchConnections = 4
const key = 'the-key-of-the-hand-rolled-vault'

/** @returns the vault, in a schema of its own, and what its tables take */
async function moveVault(bench: Bench, cluster: Cluster, vault: DataSet, schema: string) {
  const moved = copyDataSet(vault, freshFolder(bench.folder))
  const url = `postgres://postgres@localhost/postgres?host=${cluster.host}&schema=${schema}`
  bench.say(`  moving ${vault.facts.tokens} tokens into ${schema}`)
  await runToEnd([...bench.coffer, 'move', '--data', moved.folder, '--to', url])
  await cluster.query('vacuum analyze')
  rmSync(join(moved.folder, 'store', 'data.mdb.moved'))
  const bytes = await cluster.query(
    `select sum(pg_total_relation_size(c.oid)) from pg_class c join pg_namespace n
on n.oid = c.relnamespace where n.nspname = '${schema}' and c.relkind = 'r'
and c.relname <> 'recent'`,
  )
  return { moved, bytesPerToken: Number(bytes) / vault.facts.tokens }
}

const reading =
  (bench: Bench, server: Server, readKey: string, ids: readonly string[]): Side =>
  () =>
    runOn(bench, server, {
      requests: readTokens(readKey, ids),
      connections,
      seconds: bench.seconds,
    })

const searching =
  (bench: Bench, server: Server, searchKey: string): Side =>
  () =>
    runOn(bench, server, {
      requests: [searchBoth(searchKey)],
      connections: searchConnections,
      seconds: bench.seconds,
    })

interface Servers {
  readonly lmdb: Server
  readonly postgres: Server
  readonly small: Server
  readonly handRolled: Server
}

async function measureSides(bench: Bench, cluster: Cluster, servers: Servers) {
  const large = (await bench.vault(bench.tokens.large)).facts
  const small = (await bench.vault(bench.tokens.small)).facts
  const { lmdb, postgres, handRolled } = servers
  const ids = await fillHandRolled(handRolled, cluster, bench.tokens.large)
  const reads = await alternate(bench, {
    lmdb: reading(bench, lmdb, large.keys.reveal, large.cardIds),
    postgres: reading(bench, postgres, large.keys.reveal, large.cardIds),
    'hand-rolled': reading(bench, handRolled, key, ids),
  })
  const searches = await alternate(bench, {
    postgres: searching(bench, postgres, large.keys.mask),
    lmdb: searching(bench, lmdb, large.keys.mask),
  })
  const create = (server: Server, createKey: string) =>
    creating(bench, server, createKey, connections)
  const writes = await alternate(bench, {
    lmdb: create(lmdb, large.keys.create),
    postgres: create(postgres, large.keys.create),
    small: create(servers.small, small.keys.create),
    'hand-rolled': create(handRolled, key),
  })
  return { reads, searches, writes }
}

type Measured = Awaited<ReturnType<typeof measureSides>>

function checksOf({ reads, searches, writes }: Measured, tokens: number): Check[] {
  const at = `PostgreSQL, ${countText(tokens)} tokens`
  const ratio = (name: string, what: string, times: number) => ({
    key: `databases.${name}`,
    what: `${at}: ${what}`,
    target: atLeast(times),
    isSteady: false,
  })
  const rate = 'perSecond' as const
  const rolled = 'against Fastify and PostgreSQL: rate'
  const { postgres } = writes
  return [
    ratioCheck(
      ratio('reads', 'GET, against its own store: rate', 0.25),
      rate,
      reads.postgres,
      reads.lmdb,
    ),
    ratioCheck(
      ratio('creates', 'durable creates, against its own store: rate', 0.5),
      rate,
      postgres,
      writes.lmdb,
    ),
    ratioCheck(
      ratio('reads.rolled', `GET, ${rolled}`, 1.2),
      rate,
      reads.postgres,
      reads['hand-rolled'],
    ),
    ratioCheck(
      ratio('creates.rolled', `durable creates, ${rolled}`, 1),
      rate,
      postgres,
      writes['hand-rolled'],
    ),
    ratioCheck(
      ratio('creates.growth', 'durable creates, against 10 k tokens: rate', 0.8),
      rate,
      postgres,
      writes.small,
    ),
    {
      key: 'databases.search',
      what: `${at}: AND with exact total, ${searchConnections} connections: p99`,
      target: atMost(20),
      isSteady: false,
      unit: 'ms',
      values: pick(searches.postgres, 'p99Ms'),
    },
  ]
}

const named = (what: string, sides: Record<string, Measured['reads'][keyof Measured['reads']]>) =>
  Object.fromEntries(Object.entries(sides).map(([side, results]) => [`${side}, ${what}`, results]))

async function compare(bench: Bench, cluster: Cluster): Promise<Outcome> {
  const { large: tokens } = bench.tokens
  const large = await moveVault(bench, cluster, await bench.vault(tokens), 'large')
  const small = await moveVault(bench, cluster, await bench.vault(bench.tokens.small), 'small')
  const own = copyDataSet(await bench.vault(tokens), freshFolder(bench.folder))
  const measured = await withCoffer(bench, own.folder, lmdb =>
    withCoffer(bench, large.moved.folder, postgres =>
      withCoffer(bench, small.moved.folder, smallServer =>
        withHandRolled(cluster.host, key, handRolled =>
          measureSides(bench, cluster, { lmdb, postgres, small: smallServer, handRolled }),
        ),
      ),
    ),
  )
  for (const { folder } of [own, large.moved, small.moved]) rmSync(folder, { recursive: true })
  const size: Check = {
    key: 'databases.bytes',
    what: `PostgreSQL, ${countText(tokens)} tokens: bytes of a token, with its indexes`,
    target: atMost(1_300),
    isSteady: false,
    unit: 'bytes',
    values: [large.bytesPerToken],
  }
  return {
    notes: [`PostgreSQL ${cluster.version}; ${connections} connections for reads and creates`],
    sides: {
      ...named('reads', measured.reads),
      ...named('searches', measured.searches),
      ...named('creates', measured.writes),
    },
    checks: [...checksOf(measured, tokens), size],
  }
}

async function measure(bench: Bench): Promise<Outcome> {
  const programs = findPostgres()
  if (programs === undefined) return { checks: [], skipped: 'PostgreSQL is not installed' }
  return withPostgres(programs, cluster => compare(bench, cluster))
}

export const databaseScenarios: readonly Scenario[] = [
  { name: 'databases', isFullOnly: true, run: measure },
]
