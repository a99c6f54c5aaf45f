/**
 * Findings of the verification of a log: a fault, and what it cannot know.
 * @module
 */

/** Checkpoint of the list, by its number from 0 on, or the one that the reader had kept. */
export type NoteNumber = number | 'pinned'

const faultReasons = {
  key_refused: 'this key is not announced by the key before it: the chain of keys ends here',
  announcement_differs: 'the entry here is not the one that announces the next key',
  malformed: 'this text is no checkpoint',
  other_log: 'this checkpoint is of another log',
  unsigned: 'no key of this log has signed this checkpoint',
  not_witnessed: 'that witness has not signed this checkpoint',
  wrong_signature: 'a signature on this checkpoint is wrong: it was changed after it was signed',
  announced_later: 'this checkpoint is signed by a key that the log announces only later',
  retired: 'this checkpoint is signed by a key that had ended by then',
  not_handed_over:
    'this checkpoint is the first of a new key, and the key before it has not signed it as well',
  not_ascending: 'this checkpoint is of a smaller log than the one before it',
  fork: 'two checkpoints of one size have different roots: two histories were signed',
  not_dense: 'the entry with this sequence is missing, or others stand in its place',
  leaf_malformed: 'the leaf hash with this sequence is not of 32 bytes',
  root_differs: 'the entries do not give the root that this checkpoint states',
  cut_off: 'the log ends here, before what was signed or announced',
} as const

export type LogFaultKind = keyof typeof faultReasons

export interface LogFault {
  readonly fault: LogFaultKind
  readonly reason: string
  /** First bad sequence; with `below`, the first bad one lies from this one on and below that. */
  readonly sequence?: number
  readonly below?: number
  /** Checkpoint that is wrong, or that shows it. */
  readonly note?: NoteNumber
}

export const faultOf = (
  fault: LogFaultKind,
  places: Pick<LogFault, 'sequence' | 'below' | 'note'>,
): LogFault => ({ fault, reason: faultReasons[fault], ...places })

export const isFault = (value: object): value is LogFault => 'fault' in value

const unknownReasons = {
  cut_off:
    'entries from here on may have been removed together with their checkpoints: ' +
    'only a checkpoint that was kept elsewhere (pinned) would show it',
  unsigned_tail: 'no checkpoint covers the entries from here on yet',
  pruned: 'entries before this one were pruned: their tree is known, they themselves are not there',
  pinned_pruned: 'the pinned checkpoint is of a time whose entries were pruned',
  kept_before:
    'checkpoints that were kept before the one of this size were not compared: there are too many',
  older_signatures: 'checkpoints of before the trusted key: their signatures were not checked',
} as const

/** Something that the bytes at hand cannot show. */
export interface LogUnknown {
  readonly unknown: keyof typeof unknownReasons
  readonly reason: string
  /** The sequence that the reason speaks of. */
  readonly from: number
}

export const unknownOf = (unknown: LogUnknown['unknown'], from: number): LogUnknown => ({
  unknown,
  reason: unknownReasons[unknown],
  from,
})
