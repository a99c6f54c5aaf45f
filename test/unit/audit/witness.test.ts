/**
 * A witness cosigns a checkpoint of a log that it knows, if that continues what it cosigned before.
 * Statuses are of C2SP tlog-witness, "add-checkpoint".
 */
import { describe, expect, test } from 'bun:test'
import { makeNoteSigner } from '../../../src/audit/note-keys.ts'
import { openNote, signNote } from '../../../src/audit/signed-note.ts'
import { printCheckpoint } from '../../../src/audit/checkpoint.ts'
import { decideWitness } from '../../../src/audit/witness.ts'
import { printWitnessRequest, readWitnessRequest } from '../../../src/audit/witness-request.ts'
import { noteSignaturesMax } from '../../../src/limits/operation-limits.ts'
import { leavesOf, subProof, treeHash } from '../../support/tree-log.ts'

const origin = 'coffer/4f1c'
const log = makeNoteSigner(origin, 'log', new Uint8Array(32).fill(1))
const stranger = makeNoteSigner(origin, 'log', new Uint8Array(32).fill(2))
const signer = makeNoteSigner('witness.example', 'witness', new Uint8Array(32).fill(3))
const wallMs = () => 1_790_000_000_500
const leaves = leavesOf(40)

const noteOf = (size: number, by = log, root = treeHash(leaves.slice(0, size))): string =>
  signNote(printCheckpoint({ origin, size, root }), [by])

const proofOf = (seen: number, size: number) => subProof(seen, leaves.slice(0, size))

const ask = (
  request: Parameters<typeof printWitnessRequest>[0],
  newest?: string,
  logs = [log.key],
) =>
  decideWitness(
    { signer, logs, wallMs },
    readWitnessRequest(printWitnessRequest(request)),
    () => newest,
  )

describe('a witness', () => {
  test('cosigns a first checkpoint, and one that continues it, with the time', () => {
    const first = ask({ seen: 0, proof: [], note: noteOf(13) })
    expect(first).toMatchObject({ status: 200, origin })
    expect(first.cosigned).toBe(noteOf(13) + first.body)
    const request = { seen: 13, proof: proofOf(13, 37), note: noteOf(37) }
    const next = ask(request, first.cosigned)
    expect(next.status).toBe(200)
    expect(openNote(next.cosigned ?? '', [signer.key, log.key])).toMatchObject({
      fault: undefined,
      by: [{ key: log.key }, { key: signer.key, atSeconds: 1_790_000_000 }],
    })
    const again = ask({ seen: 37, proof: [], note: noteOf(37) }, next.cosigned)
    expect([again.status, again.cosigned]).toEqual([200, undefined])
  })

  test('keeps the signatures of other keys, by which readers may know the log', () => {
    const text = printCheckpoint({ origin, size: 3, root: treeHash(leaves.slice(0, 3)) })
    const note = signNote(text, [stranger, log])
    const { cosigned = '' } = ask({ seen: 0, proof: [], note })
    expect(openNote(cosigned, [stranger.key]).fault).toBeUndefined()
  })

  test('adds no signature beyond those that readers take', () => {
    const text = printCheckpoint({ origin, size: 3, root: treeHash(leaves.slice(0, 3)) })
    const signedBy = (others: number) =>
      signNote(text, [log, ...Array.from({ length: others }, () => stranger)])
    const { cosigned = '' } = ask({ seen: 0, proof: [], note: signedBy(noteSignaturesMax - 2) })
    expect(openNote(cosigned, [log.key]).fault).toBeUndefined()
    const full = ask({ seen: 0, proof: [], note: signedBy(noteSignaturesMax - 1) })
    expect([full.status, full.cosigned]).toEqual([400, undefined])
  })

  test('tells the size that it has seen, and nothing else, to who is behind or ahead', () => {
    const known = ask({ seen: 0, proof: [], note: noteOf(20) }).cosigned
    for (const [seen, size] of [
      [0, 30],
      [12, 12],
      [12, 20],
      [21, 30],
    ] as const) {
      const told = ask(
        { seen, proof: proofOf(seen === 0 ? size : seen, size), note: noteOf(size) },
        known,
      )
      expect(told).toEqual({ status: 409, body: '20\n', type: 'text/x.tlog.size', origin })
    }
  })

  test.each([
    ['a fork', { seen: 20, proof: proofOf(20, 30), note: noteOf(30, log, treeHash(leavesOf(31))) }],
    ['one size with a proof', { seen: 20, proof: proofOf(19, 20), note: noteOf(20) }],
    ['no proof', { seen: 20, proof: [], note: noteOf(30) }],
    ['the proof of another size', { seen: 20, proof: proofOf(19, 30), note: noteOf(30) }],
  ])('refuses %s', (_, request) => {
    const known = ask({ seen: 0, proof: [], note: noteOf(20) }).cosigned
    const { status, cosigned } = ask(request, known)
    expect([status, cosigned]).toEqual([422, undefined])
  })

  test('refuses another root of the size that it has cosigned', () => {
    const known = ask({ seen: 0, proof: [], note: noteOf(20) }).cosigned
    const request = { seen: 20, proof: [], note: noteOf(20, log, treeHash(leaves)) }
    expect(ask(request, known)).toMatchObject({ status: 409, body: '20\n' })
    expect(ask(request, known).cosigned).toBeUndefined()
  })

  test('refuses a proof of a first checkpoint, and an empty log with a root', () => {
    expect(ask({ seen: 0, proof: [treeHash([])], note: noteOf(3) }).status).toBe(422)
    expect(ask({ seen: 0, proof: [], note: noteOf(0, log, treeHash(leaves)) }).status).toBe(409)
    expect(ask({ seen: 0, proof: [], note: noteOf(0) }).status).toBe(200)
  })

  test('knows a log by its key alone', () => {
    const request = { seen: 0, proof: [], note: noteOf(3, stranger) }
    expect(ask(request).status).toBe(403)
    expect(ask({ ...request, note: noteOf(3) }, undefined, []).status).toBe(404)
    const broken = noteOf(3).replace(/[a-zA-Z](?=[^a-zA-Z]*$)/, each => (each === 'A' ? 'B' : 'A'))
    expect(ask({ ...request, note: broken }).status).toBe(403)
  })

  test('refuses an old size above that of the checkpoint', () => {
    expect(ask({ seen: 4, proof: [], note: noteOf(3) }).status).toBe(400)
  })
})

describe('a request to a witness', () => {
  test('has the form of the specification', () => {
    const text = printWitnessRequest({ seen: 13, proof: proofOf(13, 14), note: noteOf(14) })
    const lines = text.split('\n')
    expect(lines[0]).toBe('old 13')
    expect(
      lines.slice(1, lines.indexOf('')).map(line => Buffer.from(line, 'base64').length),
    ).toEqual(proofOf(13, 14).map(() => 32))
    expect(text.endsWith(`\n\n${noteOf(14)}`)).toBe(true)
  })

  test.each([
    ['', 'nothing'],
    [noteOf(3), 'a note alone'],
    [`old 3\n${noteOf(3)}`, 'no empty line'],
    [`old 03\n\n${noteOf(3)}`, 'a leading zero'],
    [`old -1\n\n${noteOf(3)}`, 'a negative size'],
    [`old 9999999999999999\n\n${noteOf(3)}`, 'a size beyond any log'],
    [`new 3\n\n${noteOf(3)}`, 'another word'],
    [`old 3\nAAAA\n\n${noteOf(3)}`, 'a short hash'],
    [`old 3\n${'A'.repeat(43)}B\n\n${noteOf(3)}`, 'a hash that is not canonical'],
    [`old 3\n${`${'A'.repeat(43)}=\n`.repeat(64)}\n${noteOf(3)}`, '64 hashes'],
  ])('is refused in another form (%#)', text => {
    expect(readWitnessRequest(text)).toBeUndefined()
  })
})
