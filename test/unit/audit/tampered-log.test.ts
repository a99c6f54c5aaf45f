/**
 * Each way of tampering with a log that its bytes can show.
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { printCheckpoint } from '../../../src/audit/checkpoint.ts'
import { signNote } from '../../../src/audit/signed-note.ts'
import {
  daySigner,
  origin,
  unknownOf,
  verifyChanged,
  writeHistory,
  type History,
} from '../../support/audit-history.ts'
import { flipped } from '../../support/tree-log.ts'
import { cases } from '../../support/thorough.ts'

const honest = writeHistory()
const size = honest.states.length - 1
const [dayTwo = 0, dayThree = 0] = honest.announced.map(({ sequence }) => sequence)
const sizes = honest.checkpoints.map(note => Number(note.split('\n')[1]))

const foreign = signNote(
  printCheckpoint({ origin: 'coffer/else', size: sizes[4] ?? 0, root: new Uint8Array(32) }),
  [daySigner(0, 'coffer/else')],
)

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
    const verdict = await verifyChanged(honest, ({ bundles }) => {
      bundles.splice(bundles.length - count)
    })
    expect(verdict.fault).toMatchObject({ fault: 'cut_off', sequence: leafIn(60 - count) })
  })

  test('removed with their checkpoints: only a pinned one shows it', async () => {
    const cut = ({ bundles, checkpoints }: History) => {
      bundles.splice(56)
      checkpoints.splice(-1)
    }
    const unpinned = await verifyChanged(honest, cut)
    expect(unpinned.fault).toBeUndefined()
    expect(unknownOf(unpinned)).toEqual([['cut_off', leafIn(56)]])
    const pinned = await verifyChanged(honest, history => {
      cut(history)
      return { pinned: { note: honest.noteAt(size, 2) } }
    })
    expect(pinned.fault).toMatchObject({
      fault: 'cut_off',
      sequence: leafIn(56),
      note: 'pinned',
    })
  })

  test('put back and grown on: only a pinned one of before shows it', async () => {
    const grown = writeHistory(3, 20, 'other')
    const newest = { note: grown.noteAt(size, 2) }
    expect((await verifyChanged(grown, () => ({ pinned: newest }))).fault).toBeUndefined()
    const pinned = { ...newest, earlier: [honest.noteAt(7, 0)] }
    const verdict = await verifyChanged(grown, () => ({ pinned }))
    expect(verdict.fault).toMatchObject({ fault: 'root_differs', below: 7, note: 'pinned' })
    const whole = await verifyChanged(honest, () => ({
      pinned: { note: honest.noteAt(size, 2), earlier: [honest.noteAt(7, 0)] },
    }))
    expect(whole.fault).toBeUndefined()
  })

  test('removed with the announcement of a key that is still in the chain', async () => {
    const verdict = await verifyChanged(honest, ({ bundles, checkpoints }) => {
      bundles.splice(40)
      checkpoints.splice(sizes.findIndex(each => each > leafIn(40)))
    })
    expect(verdict.fault).toMatchObject({ fault: 'cut_off', sequence: dayThree })
  })

  test.each([0, 7, 30])('bundle %d removed: the sequence is not dense', async at => {
    const verdict = await verifyChanged(honest, ({ bundles }) => {
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
      const verdict = await verifyChanged(honest, change)
      expect(verdict.fault).toMatchObject({ fault: 'not_dense', sequence: leafIn(9) })
    }
  })

  test('the entries of two bundles swapped, under the numbers that they had', async () => {
    const verdict = await verifyChanged(honest, ({ bundles }) => {
      const [first, second] = [bundles[7], bundles[12]]
      if (first === undefined || second === undefined) return
      bundles[7] = { first: first.first, leaves: second.leaves }
      bundles[12] = { first: second.first, leaves: first.leaves }
    })
    expect(verdict.fault).toMatchObject({ fault: 'root_differs', ...around(leafIn(7)) })
  })

  test('a leaf that is no hash', async () => {
    for (const leaf of [new Uint8Array(0), new Uint8Array(31), new Uint8Array(33)]) {
      const verdict = await verifyChanged(honest, ({ bundles }) => {
        const { first, leaves } = bundles[8] ?? { first: 0, leaves: [] }
        bundles[8] = { first, leaves: leaves.with(2, leaf) }
      })
      expect(verdict.fault).toMatchObject({ fault: 'leaf_malformed', sequence: leafIn(8) + 2 })
    }
  })

  test('any bit of any signed entry', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(size - 1), fc.nat(255), async (sequence, bit) => {
        const verdict = await verifyChanged(honest, ({ bundles }) => {
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
          const verdict = await verifyChanged(honest, ({ checkpoints }) => {
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
    const verdict = await verifyChanged(honest, change)
    expect(verdict).toMatchObject({ fault: { fault }, unknown: [] })
  })

  test.each([
    [1, 'not_handed_over'],
    [0, 'retired'],
  ])('the first of a new key, signed by key %d alone', async (day, fault) => {
    const between = sizes.findIndex(each => each > dayTwo)
    const note = head(honest, sizes[between] ?? 0, day)
    const verdict = await verifyChanged(honest, withNote(between, note))
    expect(verdict.fault).toMatchObject({ fault, note: between })
  })

  test('the first of a new key removed: the next one would have to introduce it', async () => {
    const between = sizes.findIndex(each => each > dayTwo)
    const verdict = await verifyChanged(honest, ({ checkpoints }) => {
      checkpoints.splice(between, 1)
    })
    expect(verdict.fault).toMatchObject({ fault: 'not_handed_over', note: between })
  })

  test('a fork of the first size leaves nothing that is agreed', async () => {
    const verdict = await verifyChanged(honest, ({ checkpoints }) => {
      checkpoints.splice(1, 0, head(other, sizes[0] ?? 0, 0))
    })
    expect(verdict.fault).toMatchObject({ fault: 'fork', sequence: 0, below: sizes[0] })
  })

  test('a fork names the entries in which the two histories part', async () => {
    const verdict = await verifyChanged(honest, ({ checkpoints }) => {
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
  ])('%s: a pinned checkpoint %s', async (fault, _, note) => {
    const verdict = await verifyChanged(honest, () => ({ pinned: { note } }))
    expect(verdict.fault).toMatchObject({ fault, note: 'pinned' })
  })
})

describe('a chain of keys that was tampered with', () => {
  test('the entry of an announcement changed', async () => {
    const verdict = await verifyChanged(honest, ({ announced }) => {
      const [first, last] = announced
      if (first !== undefined && last !== undefined) {
        announced[1] = { ...last, leaf: flipped(first.leaf) }
      }
    })
    expect(verdict.fault).toMatchObject({ fault: 'announcement_differs', sequence: dayThree })
  })

  const fromSecond = ([second, ...later]: History['announced']) => ({
    trusted: { key: daySigner(1).key, sequence: second?.sequence ?? 0 },
    announced: later,
  })

  test.each([
    ['malformed', 'no note before the trusted key', 0, 'x'],
    ['other_log', 'a note of another log before it', 0, foreign],
    ['announced_later', 'the trusted key before its day', 0, honest.noteAt(sizes[0] ?? 0, 1)],
    ['unsigned', 'a stranger after the trusted key', 8, honest.noteAt(sizes[8] ?? 0, 9)],
  ])('%s: %s', async (fault, _, at, note) => {
    const verdict = await verifyChanged(honest, ({ checkpoints, announced }) => {
      checkpoints[at] = note
      return fromSecond(announced)
    })
    expect(verdict.fault).toMatchObject({ fault, note: at })
  })

  test('a stranger before the first key of the log is not passed over', async () => {
    const verdict = await verifyChanged(honest, ({ checkpoints }) => {
      checkpoints[0] = honest.noteAt(sizes[0] ?? 0, 9)
    })
    expect(verdict.fault).toMatchObject({ fault: 'unsigned', note: 0 })
  })

  test('an announcement removed: the keys after it do not follow', async () => {
    const verdict = await verifyChanged(honest, ({ announced }) => {
      announced.shift()
    })
    expect(verdict.fault).toMatchObject({ fault: 'key_refused', sequence: dayThree })
  })

  test('the last one removed: its checkpoints are by a stranger', async () => {
    const verdict = await verifyChanged(honest, ({ announced }) => {
      announced.pop()
    })
    expect(verdict.fault?.fault).toBe('unsigned')
  })

  test('an announcement that names another entry', async () => {
    for (const [moved, fault] of [
      [1, 'not_handed_over'],
      [-1, 'retired'],
    ] as const) {
      const verdict = await verifyChanged(honest, ({ announced }) => {
        const [first] = announced
        if (first !== undefined) announced[0] = { ...first, sequence: first.sequence + moved }
      })
      expect(verdict.fault?.fault).toBe(fault)
    }
  })

  test('announcements out of their order', async () => {
    const verdict = await verifyChanged(honest, ({ announced }) => {
      const [, last] = announced
      if (last !== undefined) announced[1] = { ...last, sequence: dayTwo }
    })
    expect(verdict.fault).toMatchObject({ fault: 'key_refused', sequence: dayTwo })
  })

  test('another trusted key: nothing is believed', async () => {
    const verdict = await verifyChanged(honest, () => ({
      trusted: { key: daySigner(9).key, sequence: -1 },
    }))
    expect(verdict).toMatchObject({ agreed: 0, fault: { fault: 'key_refused', sequence: dayTwo } })
  })
})
