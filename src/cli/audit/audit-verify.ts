/**
 * `coffer audit verify`: whether the audit log is what was signed, by public keys alone.
 * @module
 */
import { InvalidArgumentError, type Command } from 'commander'
import { checkpointIn } from '../../audit/checkpoint.ts'
import type { PinnedNote } from '../../audit/log-heads.ts'
import { parseVerifierKey, type NoteKey } from '../../audit/note-keys.ts'
import { unknownOf, type LogFault } from '../../audit/log-findings.ts'
import { bundlesFrom } from '../../audit/read-log.ts'
import { chainFrom, readPublicLog, type PublicLog } from '../../audit/public-log.ts'
import { verifyLog, type LeafBundle, type LogVerdict } from '../../audit/verify-log.ts'
import { ApiError } from '../../lib/errors.ts'
import { readRegular } from '../../lib/files.ts'
import { pinnedNoteBytesMax } from '../../limits/operation-limits.ts'
import { addressPrefix } from '../../server/backup/bucket.ts'
import { openCheckpointPlace } from '../../server/backup/checkpoint-copies.ts'
import type { FolderOptions } from '../../server/folder/data-folder.ts'
import { CommandFailure, usage } from '../../server/process/failure.ts'
import { sayJson, sayNow, wallMs } from '../../server/process/system.ts'
import { assertSigned, withPublicLog } from './opened-log.ts'
import { bundlesIn, openExport, type Export } from './audit-file.ts'
import { takesVault } from '../vault-options.ts'

interface VerifyOptions extends FolderOptions {
  readonly file?: string
  readonly key?: string
  readonly pinned?: string
  readonly witness?: NoteKey
  readonly json?: boolean
}

function readWitnessKey(text: string): NoteKey {
  const key = parseVerifierKey(text)
  if (typeof key === 'string') throw new InvalidArgumentError(key)
  if (key.kind === 'witness') return key
  throw new InvalidArgumentError(
    'expected the key of a witness, as coffer audit witness printed it',
  )
}

function readPinned(file: string): string {
  try {
    const note = readRegular(file, pinnedNoteBytesMax)?.toString()
    if (note !== undefined && note !== '') return note
  } catch (error) {
    throw usage(`--pinned: cannot read ${file}`, error)
  }
  throw usage(`--pinned: expected a checkpoint of at most ${pinnedNoteBytesMax} bytes`)
}

interface Pinned extends PinnedNote {
  /** Size of the oldest that was read, where a bucket has more. */
  readonly unread?: number
}

/** Reads the checkpoint that was kept elsewhere: in a file, or all of a bucket. */
async function findPinned(place: string, origin: string): Promise<Pinned> {
  if (!place.startsWith(addressPrefix)) return { note: readPinned(place) }
  const { notes, isAll } = await openCheckpointPlace(place, wallMs).kept(origin)
  const [note, ...earlier] = notes
  if (note === undefined) {
    throw new CommandFailure(`--pinned: there is no checkpoint of this log at ${place}`)
  }
  const oldest = checkpointIn(notes.at(-1) ?? note)?.size ?? 0
  return { note, earlier, ...(isAll ? {} : { unread: oldest }) }
}

async function verify(
  log: PublicLog,
  bundles: AsyncIterable<LeafBundle>,
  { key, pinned, witness }: VerifyOptions,
): Promise<LogVerdict> {
  try {
    const chain = chainFrom(log, key)
    const kept =
      pinned === undefined
        ? undefined
        : { ...(await findPinned(pinned, chain.trusted.key.name)), witness }
    const verdict = await verifyLog({ ...chain, pruned: log.pruned, bundles, pinned: kept })
    const more = kept?.unread === undefined ? [] : [unknownOf('kept_before', kept.unread)]
    const told = { ...verdict, unknown: [...verdict.unknown, ...more] }
    if (told.fault !== undefined || told.agreed > 0) return told
    throw new CommandFailure('no checkpoint of this key covers any entry: nothing is proved')
  } catch (error) {
    throw error instanceof ApiError ? new CommandFailure(error.message) : error
  }
}

function linesOf({ size, agreed, unknown }: LogVerdict, { key }: VerifyOptions): string[] {
  const from = key === undefined ? ', by a key that this log names itself: pin one with --key' : ''
  return [
    `${size} entries, ${agreed} checkpoints: all is as it was signed${from}`,
    ...unknown.map(each => `not known, from entry ${each.from} on: ${each.reason}`),
  ]
}

/** Says where a fault is, and what it is. */
export function printFault({ sequence, below, note, reason }: LogFault): string {
  const entry = sequence === undefined ? [] : [`entry ${sequence}`]
  const range = below === undefined ? entry : [`between entries ${sequence} and ${below}`]
  const shown = note === undefined ? [] : [`checkpoint ${note}`]
  return `${[...range, ...shown].join(', ')}: ${reason}`
}

const verifyExport = (exported: Export, options: VerifyOptions): Promise<LogVerdict> =>
  verify(exported.log, bundlesIn(exported), options)

async function auditVerify(options: VerifyOptions): Promise<void> {
  const { file } = options
  if (options.witness !== undefined && options.pinned === undefined) {
    throw usage('--witness says who signed a checkpoint: expected --pinned as well')
  }
  const verdict =
    file === undefined
      ? await withPublicLog(options, async store => {
          const log = await readPublicLog(store)
          assertSigned(log)
          return verify(log, bundlesFrom(store, log.pruned.size), options)
        })
      : await verifyExport(openExport(file), options)
  const { fault, root, ...rest } = verdict
  if (options.json === true) sayJson({ ...rest, root: root.toBase64(), fault: fault ?? null })
  if (fault !== undefined) throw new CommandFailure(printFault(fault))
  if (options.json !== true) for (const line of linesOf(verdict, options)) sayNow(line)
}

export function addAuditVerify(audit: Command): void {
  takesVault(audit.command('verify'), { store: 'any', joins: false })
    .description('check that the audit log is what was signed; needs no master key')
    .option('--file <file>', 'an export, in place of the data folder')
    .option('--key <vkey>', 'the key to trust, as coffer audit key printed it')
    .option(
      '--pinned <place>',
      'a checkpoint kept elsewhere, or s3://bucket/prefix: shows what was cut off',
    )
    .option(
      '--witness <vkey>',
      'the witness whose note --pinned is: its signature counts, and no other',
      readWitnessKey,
    )
    .option('--json', 'print one line of JSON')
    .action((options: VerifyOptions) => auditVerify(options))
}
