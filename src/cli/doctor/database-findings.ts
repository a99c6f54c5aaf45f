/**
 * Findings of `coffer doctor` about the database of a vault: it must answer, accept writes, keep
 * what it was given, and be set up as a vault needs it. Source: docs/many-machines.md.
 * @module
 */
import { statSync } from 'node:fs'
import {
  databaseAddress,
  explainDatabase,
  isInDatabase,
  passwordFileOf,
  readDatabase,
  type DatabaseOptions,
} from '../../server/folder/folder-database.ts'
import { CommandFailure } from '../../server/process/failure.ts'
import { wallMs } from '../../server/process/system.ts'
import { weaknessesOfConnection, weaknessesOfPassword } from '../../server/process/weaknesses.ts'
import {
  clockSkewMsMax,
  clockSkewTellMs,
  databaseAbandonedMs,
  databaseWriteMsMax,
  vaultConnections,
} from '../../store/core/limits.ts'
import type { DatabaseAddress } from '../../store/postgres/address.ts'
import {
  areTablesForeign,
  readDatabaseFacts,
  markAheadMs,
  type DatabaseFacts,
} from '../../store/postgres/database-facts.ts'
import { hasLaterTables } from '../../store/postgres/later-tables.ts'
import { openPool } from '../../store/postgres/pool.ts'
import { replicationRole } from '../../store/postgres/replication.ts'
import { assertFormat, tablesIn } from '../../store/postgres/schema.ts'
import { connectionSettings } from '../../store/postgres/connection-settings.ts'
import { findInMark } from './clock-findings.ts'
import { fault, warning, type DoctorFinding } from './finding.ts'

const about = 'database'
const oldestVersion = 140_000

/** Checks that it accepts writes, and still has them after a crash. */
function findInKeeping(facts: DatabaseFacts): DoctorFinding[] {
  const { version, isStandby, settings, maySeeStandbys } = facts
  const findings: DoctorFinding[] = []
  if (version < oldestVersion)
    findings.push(fault(about, 'is older than PostgreSQL 14: upgrade it'))
  if (isStandby) {
    findings.push(fault(about, 'is a standby, which takes no writes: name the primary'))
  } else if (settings['default_transaction_read_only'] === 'on') {
    const text = 'is to be read alone by this user: set default_transaction_read_only to off'
    findings.push(fault(about, text))
  }
  const commit = settings['synchronous_commit'] ?? 'on'
  if (commit === 'off') {
    const text = 'synchronous_commit is off: a write that was answered may be lost; set it to on'
    findings.push(fault(about, text))
  } else if (/^(?:local|remote_write)$/.test(commit) && settings['synchronous_standby_names']) {
    const text = 'synchronous_commit waits for the disk of no standby: a failover may lose writes'
    findings.push(warning(about, `${text} that were answered; set it to on`))
  }
  for (const name of ['fsync', 'full_page_writes']) {
    if (settings[name] !== 'off') continue
    findings.push(warning(about, `${name} is off: a crash of its machine may damage it; set it on`))
  }
  if (settings['synchronous_standby_names'] && !maySeeStandbys) {
    const text = 'this user may not see how far standbys are, so a cancelled wait counts as done'
    findings.push(warning(about, `${text}: GRANT ${replicationRole} TO it`))
  }
  return findings
}

/** Connections of a vault set these themselves, but a transaction pool refuses that. */
function findInSettings({ settings }: DatabaseFacts): DoctorFinding[] {
  const lacking = Object.entries(connectionSettings(databaseAbandonedMs))
    .filter(([name, value]) => (settings[name] ?? value) !== value)
    .map(([name, value]) =>
      warning(about, `${name} is not ${value} for this user: ALTER ROLE … SET ${name} = ${value}`),
    )
  const timeoutMs = Number(settings['statement_timeout'] ?? 0)
  if (timeoutMs === 0 || timeoutMs >= databaseWriteMsMax) return lacking
  const text = 'ends what takes longer than its statement_timeout: make that 30 s or more'
  return [...lacking, warning(about, text)]
}

function findInConnection(address: DatabaseAddress, facts: DatabaseFacts): DoctorFinding[] {
  const { connectionsMax, tls, isOnOneMachine } = facts
  const isPooled = !address.prepare
  const checks: readonly [boolean, string][] = [
    [
      // A pool has its own, which are shared.
      !isPooled && connectionsMax > 0 && connectionsMax < vaultConnections,
      `has fewer connections for this user than a vault takes: up to ${vaultConnections}`,
    ],
    [
      isPooled && tls === undefined && !isOnOneMachine,
      'is reached without TLS from the pool in front of it: an attacker between them may answer',
    ],
    [/^TLSv1(?:\.[01])?$/.test(tls ?? ''), 'speaks a TLS before 1.2: set ssl_min_protocol_version'],
  ]
  return checks.filter(([isSo]) => isSo).map(([, text]) => warning(about, text))
}

function findInClock({ skewMs }: DatabaseFacts): DoctorFinding[] {
  const offMs = Math.abs(skewMs)
  if (offMs <= clockSkewTellMs) return []
  const way = skewMs > 0 ? 'ahead of' : 'behind'
  const text = `that of this machine is ${(offMs / 1_000).toFixed(1)} s ${way} that of the database`
  return offMs > clockSkewMsMax
    ? [fault('clock', `${text}: serve answers 503 until both agree`)]
    : [warning('clock', `${text}: beyond 5 s serve answers 503`)]
}

/** Findings that follow from the facts of a database. */
export const judgeDatabase = (address: DatabaseAddress, facts: DatabaseFacts): DoctorFinding[] => [
  ...findInKeeping(facts),
  ...findInSettings(facts),
  ...findInConnection(address, facts),
  ...findInClock(facts),
]

/** @throws errors that are not CommandFailures */
function told(error: unknown): DoctorFinding {
  if (error instanceof CommandFailure) return fault(about, error.message)
  throw error
}

const foreign =
  'has tables of a role that is neither this user, nor its owner, nor a superuser, and whose ' +
  'triggers run as this user: see that it is an administrator'

const databaseRemedy = 'see "Clocks" in docs/many-machines.md'

async function examineAt(address: DatabaseAddress): Promise<DoctorFinding[]> {
  const pool = openPool(address, 1)
  const tellFault = (error: unknown): DoctorFinding => told(explainDatabase(address, error))
  try {
    const findings = judgeDatabase(address, await readDatabaseFacts(pool, wallMs))
    try {
      const tables = tablesIn(address.schema)
      await assertFormat(pool, tables)
      await hasLaterTables(pool, tables)
      const owned = (await areTablesForeign(pool, tables)) ? [warning(about, foreign)] : []
      const aheadMs = await markAheadMs(pool, tables)
      const marked = findInMark(aheadMs, 'that of the database', databaseRemedy)
      return [...findings, ...owned, ...marked]
    } catch (error) {
      return [tellFault(error), ...findings]
    }
  } catch (error) {
    return [tellFault(error)]
  } finally {
    await pool.close().catch(() => {})
  }
}

function addressIn(data: string, passwordFile?: string): DatabaseAddress | DoctorFinding {
  try {
    return readDatabase(data, passwordFile)
  } catch (error) {
    return told(error)
  }
}

const findInPassword = (file: string | undefined, user?: number): DoctorFinding[] =>
  weaknessesOfPassword(file, user).map(({ about: of, text }) => warning(of, text))

async function findAt(
  address: DatabaseAddress,
  passwordFile: string | undefined,
  user?: number,
): Promise<DoctorFinding[]> {
  const weak = weaknessesOfConnection(address).map(({ text }) => warning(about, text))
  return [...findInPassword(passwordFile, user), ...weak, ...(await examineAt(address))]
}

/**
 * Finds nothing if the store is in the folder.
 * @throws CommandFailure for an option that is no URL
 */
export async function findInDatabase(
  options: DatabaseOptions & { readonly data: string },
): Promise<DoctorFinding[]> {
  const { data, store, storePasswordFile } = options
  if (isInDatabase(data)) {
    const address = addressIn(data, storePasswordFile)
    if ('level' in address) return [address]
    // This user may be root although the server does not run as root.
    const file = storePasswordFile ?? passwordFileOf(data)
    return findAt(address, file, statSync(data).uid)
  }
  if (store === undefined) return []
  return findAt(databaseAddress(options), storePasswordFile)
}
