/**
 * Verification of a log from outside: what holds, and what it says that it cannot know.
 */
import { describe, expect, test } from 'bun:test'
import { emptyFrontier, rootOf } from '../../../src/audit/merkle-tree.ts'
import { makeNoteSigner } from '../../../src/audit/note-keys.ts'
import { cosignatureLine } from '../../../src/audit/signed-note.ts'
import { verifyLog, type LogToVerify } from '../../../src/audit/verify-log.ts'
import {
  daySigner,
  toVerify,
  unknownOf,
  verifyChanged,
  writeHistory,
} from '../../support/audit-history.ts'
import { flipped } from '../../support/tree-log.ts'

const honest = writeHistory()
const size = honest.states.length - 1
const sizes = honest.checkpoints.map(note => Number(note.split('\n')[1]))

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
    const verdict = await verifyLog(toVerify(honest, { pinned: { note: honest.noteAt(at, day) } }))
    expect([verdict.fault, verdict.agreed, verdict.unknown]).toEqual([
      undefined,
      sizes.length + 1,
      [],
    ])
  })

  const witness = makeNoteSigner('witness.example', 'witness', new Uint8Array(32).fill(7))
  const cosigned = (note: string, by = witness): string =>
    note + cosignatureLine(note.slice(0, note.indexOf('\n\n') + 1), by, 1_790_000_000)
  const falseLine = (): string => {
    const { name, id } = daySigner(0).key
    const bytes = Buffer.concat([Buffer.from(id, 'hex'), Buffer.alloc(64, 1)])
    return `\u2014 ${name} ${bytes.toString('base64')}\n`
  }

  test('holds by a witness, whatever else anybody has put under its note', async () => {
    const own = honest.noteAt(1, 0)
    const bare = own.slice(0, own.indexOf('\n\n') + 2)
    for (const note of [own, own + falseLine(), bare + falseLine(), honest.noteAt(1, 9)]) {
      const pinned = { note: cosigned(note), witness: witness.key }
      const verdict = await verifyLog(toVerify(honest, { pinned }))
      expect([verdict.fault, verdict.agreed, verdict.unknown]).toEqual([
        undefined,
        sizes.length + 1,
        [],
      ])
    }
  })

  test('does not hold by a note of another witness, log or history, or one changed', async () => {
    const own = honest.noteAt(1, 0)
    const other = makeNoteSigner('witness.example', 'witness', new Uint8Array(32).fill(8))
    for (const [fault, note] of [
      ['not_witnessed', own],
      ['not_witnessed', cosigned(own, other)],
      ['wrong_signature', cosigned(own).replace('\n1\n', '\n2\n')],
      ['other_log', cosigned(own.replace('coffer/', 'coffee/'))],
      ['root_differs', cosigned(own.replace('\n1\n', '\n2\n'))],
      ['cut_off', cosigned(own.replace('\n1\n', `\n${size + 1}\n`))],
      ['malformed', cosigned('a text\nof no log\n\n')],
      ['malformed', 'x'],
    ] as const) {
      const verdict = await verifyLog(toVerify(honest, { pinned: { note, witness: witness.key } }))
      expect(verdict.fault).toMatchObject({ fault, note: 'pinned' })
    }
  })

  test('may have entries behind its last checkpoint, which is told', async () => {
    const verdict = await verifyChanged(honest, ({ checkpoints }) => {
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
    const verdict = await verifyChanged(honest, ({ checkpoints }) => {
      const [first = ''] = checkpoints
      checkpoints.unshift(first)
      checkpoints[2] += '\u2014 witness.example/w1 AAAAAAA=\n'
    })
    expect([verdict.fault, verdict.agreed]).toEqual([undefined, sizes.length + 1])
  })

  test('is verified from a later key on, and what that leaves open is told', async () => {
    const [second, ...later] = honest.announced
    const verdict = await verifyChanged(honest, () => ({
      trusted: { key: daySigner(1).key, sequence: second?.sequence ?? 0 },
      announced: later,
    }))
    const older = sizes.filter(each => each <= (second?.sequence ?? 0)).length
    expect([verdict.fault, verdict.agreed]).toEqual([undefined, sizes.length - older])
    expect(unknownOf(verdict)).toEqual([
      ['older_signatures', 0],
      ['cut_off', size],
    ])
  })

  test('is verified from a later key on by what was kept since', async () => {
    const [second, ...later] = honest.announced
    const verify = (note: string, ...earlier: readonly string[]) =>
      verifyChanged(honest, () => ({
        trusted: { key: daySigner(1).key, sequence: second?.sequence ?? 0 },
        announced: later,
        pinned: { note, earlier },
      }))
    const kept = honest.noteAt(second?.sequence ?? 0, 0)
    const verdict = await verify(honest.noteAt(size, 2), kept)
    expect([verdict.fault, unknownOf(verdict)]).toEqual([undefined, [['older_signatures', 0]]])
    expect((await verify(kept)).fault).toMatchObject({ fault: 'unsigned', note: 'pinned' })
    const unsigned = honest.noteAt((second?.sequence ?? 0) + 1, 0)
    expect((await verify(honest.noteAt(size, 2), unsigned)).fault?.fault).toBe('unsigned')
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
    const verdict = await verifyLog(
      toVerify(honest, { ...pruned, pinned: { note: honest.noteAt(10, 0) } }),
    )
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
