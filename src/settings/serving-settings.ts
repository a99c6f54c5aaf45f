/**
 * Settings of the processes that serve a vault: listening, backups and logs. One schema each, as in
 * `settings.ts`, which has the settings that callers notice. Source: docs/decisions.md, "Settings".
 * @module
 */
import { Type, type Static } from '@sinclair/typebox'
import { idleSecondsMax } from '../limits/limits.ts'
import {
  backupEveryDefault,
  backupKeepDefault,
  backupKeepMax,
  drainSecondsSettingMax,
  keepAliveSecondsDefault,
  keepAliveSecondsMax,
  logSampleMax,
  socketModeDefault,
  workersMax,
} from '../limits/setting-limits.ts'
import { durationMs } from './setting-formats.ts'
import {
  choice,
  host,
  integer,
  optionalInteger,
  optionalText,
  path,
  text,
} from './setting-kinds.ts'

/** Listening address, and number of processes. */
export const addressSchema = Type.Object({
  host: host('the address to listen on'),
  port: integer(0, 65_535, 3_333, 'the port to listen on, 0 for any free one'),
  keepAliveSeconds: integer(
    idleSecondsMax,
    keepAliveSecondsMax,
    keepAliveSecondsDefault,
    'how long a connection to a port waits for its next request: longer than a proxy keeps it',
  ),
  socket: path('a Unix socket to listen on instead'),
  socketMode: optionalText({
    pattern: '^0?6[06][06]$',
    description: `who may speak to that socket (default: ${socketModeDefault}, its owner alone)`,
    expected: 'one of 600, 660 and 666',
  }),
  socketGroup: optionalText({
    pattern: '^(?:[a-z_][a-z0-9_-]{0,31}|[0-9]{1,9})$',
    description: 'the group of that socket, by name or number, who may by 660',
    expected: 'the name or the number of a group',
  }),
  tlsCert: path('a file with the TLS certificate and those above it (PEM): HTTPS is served'),
  tlsKey: path('a file with the key of that certificate (PEM), for its owner only'),
  tlsClientCa: path('a file with certificates (PEM); callers must have one that these signed'),
  checkPath: optionalText({
    pattern: '^/[A-Za-z0-9._~-]{1,60}$',
    description: 'where its own port says ok or not ready, such as /healthz, for load balancers',
    expected: 'a path such as /healthz, of letters, digits and . _ ~ -',
  }),
  opsHost: host('the address of the listener for health and metrics'),
  opsPort: optionalInteger(
    0,
    65_535,
    'the port of that listener, 0 for any free one; none where it is not set',
  ),
  drainSeconds: integer(
    0,
    drainSecondsSettingMax,
    0,
    'seconds in which a server that was told to end serves on, and says so at /readyz',
  ),
  workers: integer(
    1,
    workersMax,
    1,
    'processes that serve together, on Linux; limits of a credential count in each',
  ),
})

/** Members of the file for the vault and its key, replacing the options of the same names. */
export const vaultSchema = Type.Object({
  data: path('the data folder'),
  masterKeyFile: path('where the master key is'),
  masterKeyCredential: path('the credential of the unit that the master key is'),
  store: Type.Unsafe<string | undefined>(
    text({
      // RFC 3986 section 3.2.1; a file of settings must not hold a secret.
      pattern: '^postgres(?:ql)?://(?![^/]*:[^/]*@)(?!.*[?&](?:ssl)?password=)[^\\0]*$',
      description: 'the PostgreSQL that holds the vault',
      expected: 'an address such as postgres://user@host/name; see store_password_file',
    }),
  ),
  storePasswordFile: path('where the password of its user is'),
})

/** Backups that a serving process makes of its own vault, and inputs of a restore beside them. */
export const backupSchema = Type.Object({
  backupTo: optionalText({
    format: 'backup place',
    description: 'where a server puts backups of itself: a folder, or s3://bucket/prefix',
    expected: 'a folder, or an address such as s3://bucket/prefix',
  }),
  backupEvery: optionalText({
    format: 'backup interval',
    description: `how often, such as 30m, 6h or 7d (default: ${backupEveryDefault})`,
    expected: 'a number with m, h or d behind it, from 1m to 14d',
  }),
  backupKeep: optionalInteger(
    1,
    backupKeepMax,
    `how many of them stay (default: ${backupKeepDefault})`,
  ),
  erasureLog: path('a file that lists deleted tokens, for coffer restore --erase'),
  auditCheckpointsTo: optionalText({
    format: 'bucket address',
    description: 'where checkpoints of the audit log are kept, once a minute: s3://bucket/prefix',
    expected: 'an address such as s3://bucket/prefix',
  }),
})

/** Events that a serving process logs to stderr, and their format. */
export const logSchema = Type.Object({
  logLevel: choice(
    ['info', 'warning', 'error'],
    'info',
    'from which level on events are logged; requests have their own choice',
  ),
  logFormat: choice(
    ['auto', 'json', 'text'],
    'auto',
    'how lines are logged; auto is text on a terminal, JSON elsewhere',
  ),
  logPriority: choice(
    ['auto', 'on', 'off'],
    'auto',
    'whether lines begin with a priority such as <4>; auto is where stderr is the journal',
  ),
  logRequests: choice(
    ['off', 'errors', 'all'],
    'off',
    'which requests are logged, without what they carry; errors are answers from 400 on',
  ),
  logSample: integer(1, logSampleMax, 1, 'of answers below 400, one in so many is logged'),
})

export type VaultChoices = Partial<Readonly<Static<typeof vaultSchema>>>
export type AddressSettings = Static<typeof addressSchema>
export type BackupSettings = Static<typeof backupSchema>

/** Defaults that hold once another setting, by its name in a file, is set. */
export const dependentDefaults: Readonly<
  Record<string, { readonly beside: string; readonly value: string | number }>
> = {
  socketMode: { beside: 'socket', value: socketModeDefault },
  backupEvery: { beside: 'backup_to', value: backupEveryDefault },
  backupKeep: { beside: 'backup_to', value: backupKeepDefault },
}

export interface BackupPlan {
  /** A folder, or an address in a bucket. */
  readonly to: string
  readonly everyMs: number
  readonly keep: number
}

/** `undefined` if no backups are set. */
export function planOf(
  settings: Omit<BackupSettings, 'erasureLog' | 'auditCheckpointsTo'>,
): BackupPlan | undefined {
  const { backupTo: to, backupEvery, backupKeep } = settings
  if (to === undefined) return undefined
  const everyMs = durationMs(backupEvery ?? backupEveryDefault)
  return { to, everyMs, keep: backupKeep ?? backupKeepDefault }
}

export type LogSettings = Static<typeof logSchema>

export const defaultLogSettings = Object.fromEntries(
  Object.entries(logSchema.properties).map(([name, schema]) => [name, schema.default]),
) as LogSettings
