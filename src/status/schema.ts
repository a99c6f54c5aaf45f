/**
 * Wire shapes of the state of the vault. Source: contract section 19.
 * @module
 */
import { Type, type Static } from '@sinclair/typebox'
import { oneOf } from '../lib/schemas.ts'

const count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description === undefined ? {} : { description }) })

const seconds = (description?: string) =>
  Type.Number({ minimum: 0, ...(description === undefined ? {} : { description }) })

const answersSchema = Type.Object(
  {
    answered: count('Answers below 400.'),
    refused: count('Answers from 400 to 499.'),
    failed: count('Answers from 500 on.'),
    p50_ms: Type.Optional(
      seconds('Half of them took at most so long, by the buckets of the metrics.'),
    ),
    p99_ms: Type.Optional(seconds()),
  },
  { title: 'AnswerCounts' },
)

/** Lags and room: absent where they are not known now, as while a database does not answer. */
const levels = {
  in_flight: Type.Optional(count('Requests under way.')),
  sweep_lag_seconds: Type.Optional(seconds('Since when a row that has expired is still there.')),
  unfolded_rows: Type.Optional(count('Rows that the index does not cover yet.')),
  unsigned_entries: Type.Optional(count('Entries of the audit log that no checkpoint covers yet.')),
  log_bytes: Type.Optional(count('What the audit log takes.')),
  file_bytes: Type.Optional(count('The file of the vault; absent where a database holds it.')),
  disk_free_bytes: Type.Optional(count('What its disk has left.')),
}

const failingSchema = Type.Object(
  {
    level: oneOf(['fault', 'warning'], 'FailingLevel'),
    check: Type.String({ description: 'Its name at `/readyz`.' }),
    text: Type.String({ description: 'What it means, and what to do.' }),
  },
  { title: 'FailingCheck' },
)

const findingSchema = Type.Object(
  {
    level: oneOf(['fault', 'warning', 'note'], 'FindingLevel'),
    about: Type.String({ description: 'The flag, or the thing.' }),
    text: Type.String(),
  },
  { title: 'Finding' },
)

const keySources = [
  'file',
  'credential',
  'environment',
  'passphrase',
  'data_folder',
  'shares',
  'memory',
] as const

const keysSchema = Type.Object(
  {
    source: oneOf(keySources, 'MasterKeySource'),
    master_key_age_seconds: Type.Optional(
      seconds('Time for which the master key counts; absent where a rekey of before noted none.'),
    ),
    data_keys: Type.Optional(count('The current one and those before.')),
    data_key_age_seconds: Type.Optional(seconds('Age of the current one.')),
  },
  { title: 'KeyState' },
)

const backupsSchema = Type.Object(
  {
    to: oneOf(['folder', 'bucket'], 'BackupPlaceKind'),
    every_seconds: seconds(),
    age_seconds: Type.Optional(seconds('Age of the newest; absent where there is none.')),
    made: count('By this server, since its start.'),
    failed: count(),
  },
  { title: 'BackupState', description: 'Absent where the server makes none.' },
)

export const statusSchema = Type.Object(
  {
    version: Type.String(),
    build: Type.String(),
    store: oneOf(['folder', 'database'], 'StoreKind'),
    workers: Type.Optional(count('Processes that serve together.')),
    started_at: Type.Optional(Type.String({ format: 'date-time' })),
    serving_seconds: seconds(),
    is_ready: Type.Boolean({ description: 'True if requests may come.' }),
    failing: Type.Array(failingSchema),
    answers: Type.Optional(answersSchema),
    refusals: Type.Optional(
      Type.Array(Type.Object({ kind: Type.String(), count: count() }, { title: 'RefusalCount' }), {
        description: 'Answers that are errors, by kind, the most frequent first.',
      }),
    ),
    levels: Type.Optional(Type.Object(levels, { title: 'Levels' })),
    log_budget_bytes: Type.Optional(count('What the audit log may take, if that is bounded.')),
    disk_bytes: Type.Optional(count('The size of the disk that the vault is on.')),
    rows_given: Type.Optional(count('Rows ever inserted, also those that are gone.')),
    keys: Type.Optional(keysSchema),
    backups: Type.Optional(backupsSchema),
    certificate_ends_at: Type.Optional(Type.String({ format: 'date-time' })),
    findings: Type.Array(findingSchema, {
      description: 'What `coffer doctor` can find while a server serves.',
    }),
  },
  { title: 'Status' },
)

const sampleSchema = Type.Object(
  {
    at: Type.String({ format: 'date-time', description: 'End of the time that it tells about.' }),
    seconds: seconds('Length of that time.'),
    answers: answersSchema,
    levels: Type.Object(levels, { title: 'Levels' }),
  },
  { title: 'StatusSample' },
)

export const historySchema = Type.Object(
  {
    samples: Type.Array(sampleSchema, {
      description: 'Oldest first; the last one ends with this request.',
    }),
  },
  { title: 'StatusHistory' },
)

const settingSchema = Type.Object(
  {
    name: Type.String({ description: 'As in the file of `--config`.' }),
    value: Type.Optional(
      Type.Union(
        [
          Type.String(),
          Type.Number(),
          Type.Boolean(),
          Type.Unsafe<readonly string[]>(Type.Array(Type.String())),
        ],
        { description: 'Absent where it is not set, or not shown.' },
      ),
    ),
    is_hidden: Type.Optional(
      Type.Boolean({ description: 'True if it is set, and names a secret or a place.' }),
    ),
    from: oneOf(['flag', 'environment', 'file', 'folder', 'default', 'program'], 'SettingOrigin'),
    by: Type.Optional(
      Type.String({ description: 'The flag, the variable or the line of the file.' }),
    ),
  },
  { title: 'ShownSetting' },
)

export const settingsListSchema = Type.Object(
  { settings: Type.Array(settingSchema) },
  { title: 'ShownSettings' },
)

export type StatusAnswer = Static<typeof statusSchema>
export type HistorySample = Static<typeof sampleSchema>
export type HistoryAnswer = Static<typeof historySchema>
export type StatusSetting = Static<typeof settingSchema>
export type StatusFinding = Static<typeof findingSchema>
export type StatusCheck = Static<typeof failingSchema>
export type KeySource = (typeof keySources)[number]
