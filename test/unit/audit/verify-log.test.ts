/**
 * Verification of a log from outside, and each way of tampering with it that bytes can show.
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { printCheckpoint } from '../../../src/audit/checkpoint.ts'
import { emptyFrontier, rootOf } from '../../../src/audit/merkle-tree.ts'
import { signNote } from '../../../src/audit/signed-note.ts'
import { verifyLog, type LogToVerify } from '../../../src/audit/verify-log.ts'
import {
  daySigner,
  origin,
  toVerify,
  writeHistory,
  type History,
} from '../../support/audit-history.ts'
import { flipped } from '../../support/audit-log.ts'
import { cases } from '../../support/thorough.ts'

const honest = writeHistory()
const size = honest.states.length - 1
const [, dayTwo, dayThree] = [0, ...honest.announced.map(({ sequence }) => sequence)]
const sizes = honest.checkpoints.map(note => Number(note.split('\n')[1]))
const unknownOf = (verdict: Awaited<ReturnType<typeof verifyLog>>) =>
  verdict.unknown.map(({ unknown, from }) => [unknown, from])

/** A copy that a test may change, as a verifier is given it. */
async function verifyChanged(
  change: (history: History) => Partial<LogToVerify> | void,
  from: History = honest,
) {
  const { bundles, checkpoints, announced } = from
  const copy = {
    ...from,
    bundles: [...bundles],
    checkpoints: [...checkpoints],
    announced: [...announced],
  }
  return await verifyLog(toVerify(copy, change(copy) ?? {}))
}

describe('a log as it was written', () => {
  test('holds, and its end is what cannot be known', async () => {
    const verdict = await verifyLog(toVerify(honest))
    expect(verdict).toMatchObject({ size, agreed: sizes.length, fault: undefined })
    expect(verdict.root).toEqual(rootOf(honest.states[size] ?? emptyFrontier))
    expect(unknownOf(verdict)).toEqual([['cut_off', size]])
    expect(verdict.unknown[0]?.reason).toContain('kept elsewhere')
  })

  test.each([0, 1, 40, size])('holds with the pinned checkpoint of %d entries', async at => {
    const day = honest.announced.filter(({ sequence }) => sequence < at).length
    const verdict = await verifyLog(toVerify(honest, { pinned: honest.noteAt(at, day) }))
    expect([verdict.fault, verdict.agreed, verdict.unknown]).toEqual([
      undefined,
      sizes.length + 1,
      [],
    ])
  })

  test('may have entries behind its last checkpoint, which is told', async () => {
    const verdict = await verifyChanged(({ checkpoints }) => {
      checkpoints.pop()
    })
    expect(verdict.fault).toBeUndefined()
    expect(unknownOf(verdict)).toEqual([
      ['unsigned_tail', sizes.at(-2) ?? 0],
      ['cut_off', size],
    ])
  })

  test('may be empty', async () => {
    const none = { bundles: [], checkpoints: [honest.noteAt(0, 0)], announced: [] }
    expect(await verifyLog(toVerify(none))).toMatchObject({ size: 0, agreed: 1, fault: undefined })
    const unsigned = await verifyLog(toVerify({ ...none, checkpoints: [] }))
    expect(unknownOf(unsigned)).toEqual([['cut_off', 0]])
  })

  test('may state one size twice, and carry signatures of others', async () => {
    const verdict = await verifyChanged(({ checkpoints }) => {
      const [first = ''] = checkpoints
      checkpoints.unshift(first)
      checkpoints[2] += '\u2014 witness.example/w1 AAAAAAA=\n'
    })
    expect([verdict.fault, verdict.agreed]).toEqual([undefined, sizes.length + 1])
  })

  test('is verified from a later key on, and what that leaves open is told', async () => {
    const [second, ...later] = honest.announced
    const verdict = await verifyChanged(() => ({
      trusted: { key: daySigner(1).key, sequence: second?.sequence ?? 0 },
      announced: later,
    }))
    const older = sizes.filter(each => each <= (dayTwo ?? 0)).length
    expect([verdict.fault, verdict.agreed]).toEqual([undefined, sizes.length - older])
    expect(unknownOf(verdict)).toEqual([
      ['older_signatures', 0],
      ['cut_off', size],
    ])
  })

  test('is read no further than its first fault', async () => {
    let read = 0
    async function* counted() {
      for (const bundle of honest.bundles.with(3, { first: 999, leaves: [] })) {
        read += 1
        yield bundle
      }
    }
    const verdict = await verifyLog(toVerify(honest, { bundles: counted() }))
    expect([verdict.fault?.fault, read]).toEqual(['not_dense', 4])
  })
})

describe('a pruned log', () => {
  /** The same log without the first so many bundles. */
  const prunedBy = (count: number): Partial<LogToVerify> => {
    const kept = honest.bundles.slice(count)
    const first = kept[0]?.first ?? size
    const { bundles } = toVerify({ ...honest, bundles: kept })
    return { bundles, pruned: honest.states[first] ?? emptyFrontier }
  }

  test.each([1, 3, 4, 20, 59, 60])('holds without its first %d bundles', async count => {
    const verdict = await verifyLog(toVerify(honest, prunedBy(count)))
    const first = honest.bundles[count]?.first ?? size
    expect([verdict.fault, verdict.size]).toEqual([undefined, size])
    expect(verdict.agreed).toBe(sizes.filter(each => each >= first).length)
    expect(unknownOf(verdict)).toEqual([
      ['pruned', first],
      ['cut_off', size],
    ])
  })

  test('cannot be compared with a pinned checkpoint of before, which is told', async () => {
    const pruned = prunedBy(20)
    const verdict = await verifyLog(toVerify(honest, { ...pruned, pinned: honest.noteAt(10, 0) }))
    expect(unknownOf(verdict)).toEqual([
      ['pruned', pruned.pruned?.size ?? 0],
      ['pinned_pruned', 10],
    ])
  })

  test('does not hold with a changed state at the prune point', async () => {
    const pruned = prunedBy(21)
    const { size: first, hashes } = pruned.pruned ?? emptyFrontier
    for (const [at, hash] of hashes.entries()) {
      const changed = { size: first, hashes: hashes.with(at, flipped(hash, at * 41)) }
      const verdict = await verifyLog(toVerify(honest, { ...prunedBy(21), pruned: changed }))
      expect(verdict.fault).toMatchObject({ fault: 'root_differs', sequence: first })
    }
  })

  test('does not hold if fewer bundles are missing than were pruned, or more', async () => {
    const pruned = honest.states[honest.bundles[20]?.first ?? 0] ?? emptyFrontier
    for (const count of [19, 21]) {
      const { bundles } = prunedBy(count)
      const verdict = await verifyLog(toVerify(honest, { ...(bundles && { bundles }), pruned }))
      expect(verdict.fault).toMatchObject({ fault: 'not_dense', sequence: pruned.size })
    }
  })
})

describe('entries that were tampered with', () => {
  const leafIn = (at: number) => honest.bundles[at]?.first ?? 0
  /** Sizes of the checkpoints around an entry. */
  const around = (sequence: number) => ({
    sequence: sizes.findLast(each => each <= sequence) ?? 0,
    below: sizes.find(each => each > sequence) ?? size,
  })

  test.each([
    ['one', 1],
    ['100', 40],
    ['all', 60],
  ])('the newest %s removed: it ends before what was signed', async (_, count) => {
    const verdict = await verifyChanged(({ bundles }) => {
      bundles.splice(bundles.length - count)
    })
    expect(verdict.fault).toMatchObject({ fault: 'cut_off', sequence: leafIn(60 - count) })
  })

  test('removed with their checkpoints: only a pinned one shows it', async () => {
    const cut = ({ bundles, checkpoints }: History) => {
      bundles.splice(56)
      checkpoints.splice(-1)
    }
    const unpinned = await verifyChanged(cut)
    expect(unpinned.fault).toBeUndefined()
    expect(unknownOf(unpinned)).toEqual([['cut_off', leafIn(56)]])
    const pinned = await verifyChanged(history => {
      cut(history)
      return { pinned: honest.noteAt(size, 2) }
    })
    expect(pinned.fault).toMatchObject({
      fault: 'cut_off',
      sequence: leafIn(56),
      note: 'pinned',
    })
  })

  test('removed with the announcement of a key that is still in the chain', async () => {
    const verdict = await verifyChanged(({ bundles, checkpoints }) => {
      bundles.splice(40)
      checkpoints.splice(sizes.findIndex(each => each > leafIn(40)))
    })
    expect(verdict.fault).toMatchObject({ fault: 'cut_off', sequence: dayThree })
  })

  test.each([0, 7, 30])('bundle %d removed: the sequence is not dense', async at => {
    const verdict = await verifyChanged(({ bundles }) => {
      bundles.splice(at, 1)
    })
    expect(verdict.fault).toMatchObject({ fault: 'not_dense', sequence: leafIn(at) })
  })

  test('a bundle twice, two bundles swapped, or one of another number', async () => {
    const spoil: ((history: History) => void)[] = [
      ({ bundles }) => bundles.splice(9, 0, ...bundles.slice(8, 9)),
      ({ bundles }) => bundles.splice(9, 2, ...bundles.slice(9, 11).toReversed()),
      ({ bundles }) => bundles.splice(9, 1, { first: NaN, leaves: bundles[9]?.leaves ?? [] }),
      ({ bundles }) => bundles.splice(9, 1, { first: -1, leaves: bundles[9]?.leaves ?? [] }),
    ]
    for (const change of spoil) {
      const verdict = await verifyChanged(change)
      expect(verdict.fault).toMatchObject({ fault: 'not_dense', sequence: leafIn(9) })
    }
  })

  test('the entries of two bundles swapped, under the numbers that they had', async () => {
    const verdict = await verifyChanged(({ bundles }) => {
      const [first, second] = [bundles[7], bundles[12]]
      if (first === undefined || second === undefined) return
      bundles[7] = { first: first.first, leaves: second.leaves }
      bundles[12] = { first: second.first, leaves: first.leaves }
    })
    expect(verdict.fault).toMatchObject({ fault: 'root_differs', ...around(leafIn(7)) })
  })

  test('a leaf that is no hash', async () => {
    for (const leaf of [new Uint8Array(0), new Uint8Array(31), new Uint8Array(33)]) {
      const verdict = await verifyChanged(({ bundles }) => {
        const { first, leaves } = bundles[8] ?? { first: 0, leaves: [] }
        bundles[8] = { first, leaves: leaves.with(2, leaf) }
      })
      expect(verdict.fault).toMatchObject({ fault: 'leaf_malformed', sequence: leafIn(8) + 2 })
    }
  })

  test('any bit of any signed entry', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(size - 1), fc.nat(255), async (sequence, bit) => {
        const verdict = await verifyChanged(({ bundles }) => {
          const at = bundles.findLastIndex(({ first }) => first <= sequence)
          const { first, leaves } = bundles[at] ?? { first: 0, leaves: [] }
          const leaf = flipped(leaves[sequence - first] ?? new Uint8Array(1), bit)
          bundles[at] = { first, leaves: leaves.with(sequence - first, leaf) }
        })
        const announces = sequence === dayTwo || sequence === dayThree
        expect(verdict.fault).toMatchObject(
          announces
            ? { fault: 'announcement_differs', sequence }
            : { fault: 'root_differs', ...around(sequence) },
        )
      }),
      { numRuns: cases(500, 100) },
    )
  })
})

describe('checkpoints that were tampered with', () => {
  test('any character', async () => {
    const at = 3
    const note = honest.checkpoints[at] ?? ''
    await fc.assert(
      fc.asyncProperty(
        fc.nat(note.length - 1),
        fc.integer({ min: 32, max: 126 }),
        async (to, code) => {
          const changed = note.slice(0, to) + String.fromCharCode(code) + note.slice(to + 1)
          fc.pre(changed !== note)
          const verdict = await verifyChanged(({ checkpoints }) => {
            checkpoints[at] = changed
          })
          expect(verdict.fault).toMatchObject({ note: at, reason: expect.stringMatching(/./) })
        },
      ),
      { numRuns: cases(500, 100) },
    )
  })

  const withNote = (at: number, note: string) => (history: History) => {
    history.checkpoints[at] = note
  }
  const head = (of: History, at: number, ...days: readonly number[]) => of.noteAt(at, ...days)
  const other = writeHistory(3, 20, 'other')
  const foreign = signNote(
    printCheckpoint({ origin: 'coffer/else', size: sizes[4] ?? 0, root: new Uint8Array(32) }),
    [daySigner(0, 'coffer/else')],
  )
  const misnamed = signNote(
    printCheckpoint({ origin: 'coffer/else', size: sizes[4] ?? 0, root: new Uint8Array(32) }),
    [daySigner(0)],
  )
  const at = 4
  const sizeAt = sizes[at] ?? 0
  const late = sizes.length - 1

  test.each([
    ['malformed', 'no note', withNote(at, 'x')],
    [
      'malformed',
      'a signed text that is no checkpoint',
      withNote(at, signNote(`${origin}\nx\n`, [daySigner(0)])),
    ],
    ['other_log', 'one of another log', withNote(at, foreign)],
    ['other_log', 'one of another log, by the key of this one', withNote(at, misnamed)],
    ['unsigned', 'a signature by a stranger', withNote(at, head(honest, sizeAt, 9))],
    ['announced_later', 'a key that is announced later', withNote(at, head(honest, sizeAt, 1))],
    ['retired', 'a key that had ended', withNote(late, head(honest, size, 1))],
    ['retired', 'both keys that had ended', withNote(late, head(honest, size, 0, 1))],
    [
      'not_ascending',
      'the one before it again',
      ({ checkpoints }: History) => {
        checkpoints.splice(at, 0, ...checkpoints.slice(at - 2, at - 1))
      },
    ],
    [
      'fork',
      'another root of the same size',
      ({ checkpoints }: History) => {
        checkpoints.splice(at + 1, 0, head(other, sizeAt, 0))
      },
    ],
    ['root_differs', 'another root', withNote(at, head(other, sizeAt, 0))],
  ])('%s: %s', async (fault, _, change) => {
    const verdict = await verifyChanged(change)
    expect(verdict).toMatchObject({ fault: { fault }, unknown: [] })
  })

  test.each([
    [1, 'not_handed_over'],
    [0, 'retired'],
  ])('the first of a new key, signed by key %d alone', async (day, fault) => {
    const between = sizes.findIndex(each => each > (dayTwo ?? 0))
    const note = head(honest, sizes[between] ?? 0, day)
    const verdict = await verifyChanged(withNote(between, note))
    expect(verdict.fault).toMatchObject({ fault, note: between })
  })

  test('the first of a new key removed: the next one would have to introduce it', async () => {
    const between = sizes.findIndex(each => each > (dayTwo ?? 0))
    const verdict = await verifyChanged(({ checkpoints }) => {
      checkpoints.splice(between, 1)
    })
    expect(verdict.fault).toMatchObject({ fault: 'not_handed_over', note: between })
  })

  test('a fork names the entries in which the two histories part', async () => {
    const verdict = await verifyChanged(({ checkpoints }) => {
      checkpoints.splice(at + 1, 0, head(other, sizeAt, 0))
    })
    expect(verdict.fault).toMatchObject({ sequence: sizes[at - 1], below: sizeAt, note: at + 1 })
  })

  test.each([
    ['fork', 'of a size that the log has signed otherwise', head(other, sizeAt, 0)],
    ['root_differs', 'of a history that the log has left', head(other, sizeAt - 1, 0)],
    ['other_log', 'of another log', foreign],
    ['unsigned', 'of a stranger', head(honest, sizeAt, 9)],
    ['announced_later', 'by a key of later', head(honest, sizeAt, 2)],
    ['malformed', 'that is none', 'x'],
    [
      'wrong_signature',
      'that was changed',
      head(honest, sizeAt, 0).replace(`\n${sizeAt}\n`, '\n1\n'),
    ],
  ])('%s: a pinned checkpoint %s', async (fault, _, pinned) => {
    const verdict = await verifyChanged(() => ({ pinned }))
    expect(verdict.fault).toMatchObject({ fault, note: 'pinned' })
  })
})

describe('a chain of keys that was tampered with', () => {
  test('an announcement removed: the keys after it do not follow', async () => {
    const verdict = await verifyChanged(({ announced }) => {
      announced.shift()
    })
    expect(verdict.fault).toMatchObject({ fault: 'key_refused', sequence: dayThree })
  })

  test('the last one removed: its checkpoints are by a stranger', async () => {
    const verdict = await verifyChanged(({ announced }) => {
      announced.pop()
    })
    expect(verdict.fault?.fault).toBe('unsigned')
  })

  test('an announcement that names another entry', async () => {
    for (const [moved, fault] of [
      [1, 'not_handed_over'],
      [-1, 'retired'],
    ] as const) {
      const verdict = await verifyChanged(({ announced }) => {
        const [first] = announced
        if (first !== undefined) announced[0] = { ...first, sequence: first.sequence + moved }
      })
      expect(verdict.fault?.fault).toBe(fault)
    }
  })

  test('announcements out of their order', async () => {
    const verdict = await verifyChanged(({ announced }) => {
      const [, last] = announced
      if (last !== undefined) announced[1] = { ...last, sequence: dayTwo ?? 0 }
    })
    expect(verdict.fault).toMatchObject({ fault: 'key_refused', sequence: dayTwo })
  })

  test('another trusted key: nothing is believed', async () => {
    const verdict = await verifyChanged(() => ({
      trusted: { key: daySigner(9).key, sequence: -1 },
    }))
    expect(verdict).toMatchObject({ agreed: 0, fault: { fault: 'key_refused', sequence: dayTwo } })
  })
})
