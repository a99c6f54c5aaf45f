/**
 * `coffer audit`: reads the audit log.
 * @module
 */
import { Option, type Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import type { LoggedEntry } from '../../audit/bundle.ts'
import type { AuditEntry } from '../../audit/entry.ts'
import { printVerifierKey } from '../../audit/note-keys.ts'
import { chainFrom, readPublicLog } from '../../audit/public-log.ts'
import { entriesBefore, entriesFrom } from '../../audit/read-log.ts'
import { witnessedSignerOf } from '../../audit/signing-keys.ts'
import { auditFollowMs, auditTailMax } from '../../limits/operation-limits.ts'
import type { FolderOptions } from '../../server/folder/data-folder.ts'
import { CommandFailure } from '../../server/process/failure.ts'
import { sayJson, sayNow, stderrNow } from '../../server/process/system.ts'
import { endLine, headLine } from './audit-file.ts'
import { auditFormats, lineIn, type AuditFormat } from './audit-formats.ts'
import { operate } from '../operate.ts'
import { assertSigned, withLog, withPublicLog, type OpenedLog } from './opened-log.ts'
import { addAuditVerify } from './audit-verify.ts'
import { addAuditWitness } from './audit-witness.ts'
import { takesVault } from '../vault-options.ts'

const replaced = (next: number): CommandFailure =>
  new CommandFailure(
    'the store was replaced, as by coffer compact or move; entries up to ' +
      `${next - 1} were printed: begin again`,
  )

const tellGap = (first: number, last: number): void => {
  const why = 'pruned before they were read here, or removed: see coffer audit verify'
  stderrNow.line(`coffer: entries ${first} to ${last} are not there, ${why}`)
}

/**
 * Reads on whenever something is new, until the process is ended.
 * @throws CommandFailure once nothing more can come
 */
async function follow(
  log: OpenedLog,
  from: number,
  take: (entry: LoggedEntry) => void,
): Promise<never> {
  for (let next = from; ;) {
    // Before the read, which then has all of a file that is written no more.
    const isLast = log.isReplaced()
    for await (const entry of entriesFrom(log, next, tellGap)) {
      take(entry)
      next = entry.sequence + 1
    }
    if (isLast) throw replaced(next)
    await Bun.sleep(auditFollowMs)
  }
}

interface ExportOptions extends FolderOptions {
  readonly format: AuditFormat
  readonly follow?: boolean
}

async function auditExport(options: ExportOptions): Promise<void> {
  const { format } = options
  await withLog(options, async log => {
    const tell = (entry: LoggedEntry): void => sayNow(lineIn(format, entry))
    const { next } = await log.store.logRange()
    const known = await readPublicLog(log.store)
    const isProof = format === 'jsonl' && options.follow !== true
    if (isProof) sayNow(headLine(known))
    let isWhole = true
    const onGap = (first: number, last: number): void => {
      isWhole = false
      tellGap(first, last)
    }
    for await (const entry of entriesFrom(log, known.pruned.size, onGap)) {
      if (entry.sequence >= next) break
      tell(entry)
    }
    if (options.follow === true) await follow(log, next, tell)
    // Read again: it may cover what came since.
    if (isProof) sayNow(endLine(await publicUpTo(log, next)))
    if (!isWhole) throw new CommandFailure('entries are missing from what was printed')
  })
}

/** Checkpoints of the entries that were exported. */
async function publicUpTo({ store }: OpenedLog, size: number) {
  const { checkpoints, ...rest } = await readPublicLog(store)
  const isWithin = (note: string): boolean => Number(note.split('\n')[1]) <= size
  return { ...rest, checkpoints: checkpoints.filter(isWithin) }
}

interface TailOptions extends FolderOptions {
  readonly lines: number
  readonly follow?: boolean
  readonly id?: string
  readonly actor?: string
  readonly keyId?: string
  readonly from?: string
  readonly operation?: string
}

const matches = (entry: AuditEntry, asked: TailOptions): boolean =>
  (asked.id === undefined || entry.entityIds.includes(asked.id)) &&
  (asked.actor === undefined || entry.actorId === asked.actor) &&
  (asked.keyId === undefined || entry.keyId === asked.keyId) &&
  (asked.from === undefined || entry.from === asked.from) &&
  (asked.operation === undefined || entry.operation === asked.operation)

/** A line for people: when, what came of it, who did what to what, why, and from where. */
function shown({ entry, sequence }: LoggedEntry): string {
  const { atMs, result, operation, entityIds, transform, rule, actorType, actorId, from } = entry
  const [first = '-'] = entityIds
  const about = entityIds.length > 1 ? `${first} and ${entityIds.length - 1} more` : first
  const decided = [transform, rule && `by ${rule}`, entry.reason].filter(Boolean).join(' ')
  const times = entry.count === undefined ? '' : ` ×${entry.count}`
  const who = `${actorType ?? 'nobody'}${actorId === undefined ? '' : ` ${actorId}`}`
  const where = from === undefined ? '' : ` from ${from}`
  const at = new Date(atMs).toISOString()
  const why = entry.statedReason === undefined ? '' : `, stating: ${entry.statedReason}`
  const searched = entry.searched === undefined ? '' : ` searching ${entry.searched.join(', ')}`
  const what = `${result} ${operation} ${about} ${decided}${searched}${times}`
  return `${sequence} ${at} ${what}: ${who}${where}${why}`
}

async function auditTail(options: TailOptions): Promise<void> {
  await withLog(options, async log => {
    const { next } = await log.store.logRange()
    const found: LoggedEntry[] = []
    for await (const entry of entriesBefore(log, next)) {
      if (matches(entry.entry, options)) found.push(entry)
      if (found.length >= options.lines) break
    }
    for (const entry of found.toReversed()) sayNow(JSON.stringify(shown(entry)).slice(1, -1))
    if (options.follow !== true) return
    await follow(log, next, entry => {
      if (matches(entry.entry, options)) sayNow(JSON.stringify(shown(entry)).slice(1, -1))
    })
  })
}

interface KeyOptions extends FolderOptions {
  readonly all?: boolean
  readonly forWitnesses?: boolean
  readonly json?: boolean
}

/** Returns the key that witnesses know, of the newest chain. */
const witnessedKey = (options: KeyOptions): Promise<string> =>
  withLog(options, async ({ store, keys }) => {
    const log = await readPublicLog(store)
    assertSigned(log)
    const { name } = chainFrom(log, undefined).trusted.key
    return printVerifierKey(witnessedSignerOf(keys, name).key)
  })

async function auditKey(options: KeyOptions): Promise<void> {
  if (options.forWitnesses === true) {
    const key = await witnessedKey(options)
    return options.json === true ? sayJson({ keys: [key] }) : sayNow(key)
  }
  const log = await withPublicLog(options, readPublicLog)
  assertSigned(log)
  const keys = log.announcements.map(({ vkey }) => vkey)
  const told = options.all === true ? keys : keys.slice(-1)
  if (options.json === true) return sayJson({ keys: told })
  for (const key of told) sayNow(key)
}

/** The server makes it: this one if it runs, or the next. */
async function auditReindex(options: FolderOptions): Promise<void> {
  await operate(options, 'audit-reindex', {})
  sayNow('the search index of the audit log is given up; a server makes it again')
}

function readLines(text: string): number {
  const lines = Number(text)
  if (Number.isInteger(lines) && lines >= 1 && lines <= auditTailMax) return lines
  throw new InvalidArgumentError(`expected a number from 1 to ${auditTailMax}`)
}

export function addAudit(program: Command): void {
  const audit = program.command('audit').description('read the audit log, and prove it')
  addAuditVerify(audit)
  addAuditWitness(audit)
  takesVault(audit.command('export'), { store: 'any', joins: false })
    .description('print every entry; as jsonl, what is printed proves itself')
    .addOption(
      new Option('--format <format>', 'how entries are printed')
        .choices(auditFormats)
        .default('jsonl'),
    )
    .option('--follow', 'go on with what is new, without an end')
    .action((options: ExportOptions) => auditExport(options))
  takesVault(audit.command('tail'), { store: 'any', joins: false })
    .description('show the newest entries')
    .option('--lines <number>', 'how many', readLines, 20)
    .option('--id <id>', 'only those about this token, application or session')
    .option('--actor <id>', 'only those of this application')
    .option('--key-id <id>', 'only those of this key')
    .option('--from <address>', 'only those from this address')
    .option('--operation <name>', 'only those of this operation')
    .option('--follow', 'go on with what is new, without an end')
    .action((options: TailOptions) => auditTail(options))
  takesVault(audit.command('reindex'), { store: 'any', joins: true })
    .description('have the search index of GET /logs made again, where verify says that it differs')
    .action((options: FolderOptions) => auditReindex(options))
  takesVault(audit.command('key'), { store: 'any', joins: false })
    .description('print the public key that signs the audit log; needs no master key')
    .addOption(new Option('--all', 'every key since the first').conflicts('forWitnesses'))
    .option('--for-witnesses', 'the key that witnesses know the log by; needs the master key')
    .option('--json', 'print one line of JSON')
    .action((options: KeyOptions) => auditKey(options))
}
