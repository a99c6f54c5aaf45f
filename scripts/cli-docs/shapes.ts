/**
 * Shapes that commands print with `--json`: one object on one line of stdout.
 * `test/docs/cli.test.ts` runs each command and compares.
 * @module
 */
import { Type, type TObject, type TProperties, type TSchema } from '@sinclair/typebox'

/** Exactly these members. */
const shape = (members: TProperties): TObject =>
  Type.Object(members, { additionalProperties: false })

const newKey = {
  tenant_id: Type.String(),
  application_id: Type.String(),
  key: Type.Optional(Type.String({ description: 'it is shown once' })),
  key_file: Type.Optional(Type.String({ description: 'where it is, with --key-file' })),
}
const orNull = (schema: TSchema, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })
const rows = Type.Record(Type.String(), Type.Integer(), { description: 'how many of each kind' })
const createdAt = Type.String({ description: 'the moment that it is of, RFC 3339' })

const damage = shape({
  kind: Type.String(),
  page: Type.Optional(Type.Integer({ description: 'of the file, where it is one of a page' })),
  ordinal: Type.Optional(Type.Integer({ description: 'of the row, where it is one of a row' })),
  sequence: Type.Optional(
    Type.Integer({ description: 'of the entry, where it is one of the log' }),
  ),
})

const finding = shape({
  level: Type.Union([Type.Literal('fault'), Type.Literal('warning'), Type.Literal('note')]),
  about: Type.String({ description: 'the flag, the thing or the path' }),
  text: Type.String(),
})

const logFault = shape({
  fault: Type.String({ description: 'kind' }),
  reason: Type.String(),
  sequence: Type.Optional(
    Type.Integer({ description: 'of the first wrong entry; with below, it is in this range' }),
  ),
  below: Type.Optional(Type.Integer()),
  note: Type.Optional(
    Type.Union([Type.Integer(), Type.Literal('pinned')], {
      description: 'the checkpoint, by its number from 0 on',
    }),
  ),
})

const sealed = shape({
  sealed: Type.Boolean(),
  shares: Type.Integer({ description: 'that came so far' }),
  threshold: Type.Union([Type.Integer(), Type.Null()], {
    description: 'how many are needed; null while none came',
  }),
})

const instant = Type.Union([Type.String(), Type.Null()], {
  description: 'null where there is none',
})
const tenant = Type.String({ description: 'of the tenant' })

const application = shape({
  id: Type.String(),
  name: Type.String(),
  type: Type.String(),
  created_at: Type.String(),
  expires_at: instant,
})

const applicationKey = {
  id: Type.String({ description: 'of the key, which is not the key' }),
  version: Type.Integer({ description: 'counts the keys of its application' }),
  created_at: Type.String(),
  expires_at: instant,
  last_used_on: orNull(Type.String(), 'a day in UTC'),
}

const session = Type.Object({ id: Type.String(), tenant_id: tenant, authorized: Type.Boolean() })

/** As the interface shows it. */
const token = Type.Object({ id: Type.String(), type: Type.String() })

const dataKey = shape({
  number: Type.Integer(),
  state: Type.Union([Type.Literal('current'), Type.Literal('readable')]),
  made_at: Type.String(),
  rows: Type.Integer({ description: 'that are sealed under it' }),
})

const setting = shape({
  name: Type.String({ description: 'as in the file of `--config`' }),
  value: Type.Union(
    [Type.String(), Type.Number(), Type.Boolean(), Type.Array(Type.String()), Type.Null()],
    { description: 'null where nothing is set' },
  ),
  from: Type.String({ description: 'a flag, a variable, a file and its line, or `default`' }),
})

const keptBackup = shape({
  file: Type.String({ description: 'its path or address' }),
  began_at: Type.String({ description: 'by its name' }),
  bytes: Type.Integer({ description: 'of the file' }),
  state: orNull(
    Type.String(),
    'complete, cut, damaged, other_key, newer, not_a_backup or unreadable; null without a key',
  ),
  format: orNull(Type.Integer(), 'of its vault; null, as the next two, where it does not open'),
  coffer: orNull(Type.String(), 'version and build that made it'),
  rows: orNull(rows),
})

/** By the words of the command. */
export const shapes: Readonly<Record<string, TObject>> = {
  init: shape(newKey),
  dev: shape({
    base_url: Type.String(),
    tenant_id: Type.String(),
    management_key: Type.String(),
    private_key: Type.String({ description: 'has a rule that reveals' }),
    public_key: Type.String({ description: 'may only create and update' }),
  }),
  unseal: sealed,
  seal: sealed,
  'keys split': shape({
    shares: Type.Optional(Type.Array(Type.String(), { description: 'without --to-dir' })),
    files: Type.Optional(Type.Array(Type.String(), { description: 'with it' })),
  }),
  'keys join': shape({ file: Type.String() }),
  'config print': shape({ settings: Type.Array(setting) }),
  doctor: shape({ findings: Type.Array(finding) }),
  'app create': shape(newKey),
  'app list': shape({ applications: Type.Array(application) }),
  'app regenerate': shape(newKey),
  'app delete': shape({ application_id: Type.String(), deleted: Type.Boolean() }),
  'access explain': Type.Object({
    decision: Type.String({ description: 'reveal, mask, redact, hidden or forbidden' }),
    status: Type.Integer({ description: 'of the answer to such a request' }),
    text: Type.String(),
  }),
  'access simulate': shape({
    changes: Type.Array(
      shape({
        permission: Type.String(),
        from: Type.String({ description: 'redact, mask, reveal or hidden' }),
        to: Type.String(),
        count: Type.Integer({ description: 'of tokens, exact' }),
        samples: Type.Array(Type.String(), { description: 'ids, for a key with `log:read`' }),
      }),
    ),
  }),
  'access review': shape({
    rows: Type.Array(
      shape({
        application_id: Type.String(),
        name: Type.String(),
        permission: Type.String(),
        by: Type.String({ description: '`rule 0` by its place, or the plain permission' }),
        container: Type.String(),
        tokens: Type.Integer({ description: 'that it decides over now' }),
        last_used_on: orNull(
          Type.String(),
          'of its keys, a day in UTC; null without one, or without `key:read`',
        ),
      }),
    ),
  }),
  'audit verify': shape({
    size: Type.Integer({ description: 'number of entries' }),
    root: Type.String({ description: 'of the tree over them, base64' }),
    agreed: Type.Integer({ description: 'checkpoints that the entries agree with' }),
    fault: orNull(logFault, 'the first one; null if all is as it was signed'),
    unknown: Type.Array(
      shape({
        unknown: Type.String({ description: 'what cannot be known' }),
        reason: Type.String(),
        from: Type.Integer({ description: 'the entry from which on it is not known' }),
      }),
    ),
  }),
  'audit key': shape({
    keys: Type.Array(Type.String(), { description: 'the newest; with --all from the first on' }),
  }),
  'audit witness': shape({
    address: Type.String({ description: 'where it listens' }),
    key: Type.String({ description: 'its verifier key' }),
  }),
  'log digest': shape({
    digests: Type.Array(Type.String(), { description: 'one of each id, in their order' }),
  }),
  'session list': shape({
    sessions: Type.Array(session, { description: 'as `GET /sessions` shows them' }),
  }),
  'token create': token,
  'token get': token,
  'token list': token,
  'token search': token,
  'token update': token,
  'token delete': shape({ id: Type.String() }),
  'token import': shape({
    dry_run: Type.Boolean(),
    created: Type.Integer(),
    equal: Type.Integer(),
    rejected: Type.Integer(),
    blank: Type.Integer(),
    done_before: Type.Integer(),
  }),
  'token export': shape({
    tokens: Type.Integer(),
    bytes: Type.Integer(),
    sha256: Type.String(),
    recipients: Type.Integer(),
    codes_left: Type.Integer(),
    reads_all: Type.Boolean(),
  }),
  'token reindex': shape({
    dry_run: Type.Boolean(),
    found: Type.Integer({ description: 'when it began' }),
    changed: Type.Integer({ description: 'or would be, with --dry-run' }),
    unchanged: Type.Integer({ description: 'that had these indexes' }),
    gone: Type.Integer({ description: 'or not for this key' }),
    refused: Type.Array(
      shape({
        reason: Type.String(),
        count: Type.Integer(),
        ids: Type.Array(Type.String(), { description: 'the first ten' }),
      }),
    ),
  }),
  'token counts': shape({
    total: Type.Integer(),
    counts: Type.Array(
      Type.Object({ type: Type.String(), container: Type.String(), count: Type.Integer() }),
    ),
  }),
  'app key list': shape({ keys: Type.Array(shape(applicationKey)) }),
  'app key add': shape({
    application_id: Type.String(),
    ...applicationKey,
    key: Type.Optional(Type.String({ description: 'it is shown once' })),
    key_file: Type.Optional(Type.String({ description: 'where it is, with --key-file' })),
  }),
  'app key revoke': shape({
    application_id: Type.String(),
    id: Type.String(),
    revoked: Type.Boolean(),
  }),
  'session create': shape({
    id: Type.String(),
    session_key: Type.String({ description: 'of the page; it is shown once' }),
    nonce: Type.String({ description: 'for anyone who authorizes it, once' }),
    expires_at: Type.String(),
  }),
  'session authorize': shape({ authorized: Type.Boolean() }),
  permissions: shape({
    permissions: Type.Array(Type.Object({ type: Type.String(), description: Type.String() })),
  }),
  'session end': shape({ session_id: Type.String(), ended: Type.Boolean() }),
  status: shape({
    version: Type.String(),
    build: Type.String({ description: 'as coffer --version says' }),
    process_id: Type.Integer({ description: 'of the process that is told to end' }),
    address: orNull(Type.String(), 'where it listens; null until it does'),
    ops_address: orNull(Type.String(), 'of health and metrics; null where it tells of neither'),
    backup_to: orNull(Type.String(), 'where it puts backups; null where it makes none'),
    backup_age_seconds: Type.Optional(
      orNull(Type.Integer(), 'of the newest; absent where none are made'),
    ),
    backups_made: Type.Optional(Type.Integer({ description: 'since the start' })),
    backups_failed: Type.Optional(Type.Integer()),
    backup_overdue: Type.Optional(Type.Boolean({ description: 'as /readyz says' })),
    serving_seconds: Type.Integer(),
    rows_given: orNull(
      Type.Integer(),
      'so far, also those that are gone; null, as the next two, while a database does not answer',
    ),
    rows_not_folded: orNull(Type.Integer()),
    used_bytes: orNull(Type.Integer(), 'of the database, without free pages'),
    data_keys: Type.Integer(),
    clock_ahead_seconds: Type.Integer({ description: '0 up to a minute' }),
  }),
  'keys status': shape({
    master_key: Type.Integer({ description: 'how often it was replaced' }),
    keys: Type.Array(dataKey),
    keyrings_to_scrub: Type.Integer({ description: 'that may be in the files still' }),
  }),
  'keys rotate': shape({
    key: Type.Integer({ description: 'the number of the new one' }),
    rows_resealed: Type.Integer(),
    rows_damaged: Type.Integer({ description: 'that did not open' }),
  }),
  'keys retire': shape({
    retired_at: Type.String(),
    keys: Type.Array(shape({ number: Type.Integer(), made_at: Type.String() })),
    rows_looked_at: Type.Integer(),
    rows_left: Type.Integer({ description: 'under one of these keys: 0' }),
    scrubbed: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'whether keyrings with them are nowhere in the files; null of a database',
    }),
    not_covered: Type.String(),
    files_looked_at: Type.Array(Type.String()),
    copies_left: Type.Array(Type.String(), {
      description: 'of the vault, which others work on or an operator has to remove: then exit 1',
    }),
  }),
  'keys rekey': shape({
    master_key: Type.Integer(),
    scrubbed: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'whether nothing under the one before is in the files; null of a database',
    }),
  }),
  backup: shape({
    file: Type.String(),
    bytes: Type.Integer(),
    created_at: createdAt,
    rows,
  }),
  'backup list': shape({
    backups: Type.Array(keptBackup, { description: 'newest first, by their names' }),
    ignored: Type.Array(Type.String(), { description: 'names of other files there' }),
  }),
  restore: shape({
    file: Type.Optional(Type.String({ description: 'the one that --latest took' })),
    created_at: createdAt,
    rows,
    erased: Type.Optional(
      shape({
        tokens: Type.Integer(),
        not_there: Type.Integer({ description: 'lines of no token that is there' }),
        unsigned_from: Type.Optional(
          Type.Integer({ description: 'the first entry of the log that no checkpoint covers' }),
        ),
      }),
    ),
    revoked: Type.Optional(
      shape({
        keys: Type.Integer(),
        sessions: Type.Integer(),
        webhooks: Type.Integer({ description: 'those that were enabled, and are disabled now' }),
      }),
    ),
    managers: Type.Optional(
      Type.Array(shape(newKey), { description: 'one for each tenant, with --revoke-keys' }),
    ),
  }),
  verify: shape({
    damages: Type.Array(damage, { description: 'the first of them' }),
    more: Type.Integer({ description: 'those that are not shown' }),
    rows: Type.Union([rows, Type.Null()], { description: 'null where not all were read' }),
    sum: Type.Union([Type.String(), Type.Null()], {
      description: 'compared or not_begun; null where not all rows were read',
    }),
  }),
}
