/**
 * The chain of keys: a key is followed by the one it announces, and by no other.
 */
import { describe, expect, test } from 'bun:test'
import { announceKey, readAnnouncement } from '../../../src/audit/day-keys.ts'
import { makeNoteSigner, printVerifierKey } from '../../../src/audit/note-keys.ts'
import { openNote, signNote } from '../../../src/audit/signed-note.ts'

const origin = 'coffer/4f1c'
const signerOf = (day: number, name = origin) =>
  makeNoteSigner(name, 'log', new Uint8Array(32).fill(day))
const [first, second, third] = [signerOf(1), signerOf(2), signerOf(3)]
const announced = announceKey(second.key, first)

/** Base64 of the signature line by the first key. */
const signatureOver = (text: string): string =>
  signNote(text, [first]).trimEnd().split(' ').at(-1) ?? ''

/** Announces any text as a key. */
const announce = (vkey: string) => ({
  vkey,
  signature: signatureOver(`coffer audit key\n${vkey}\n`),
})

describe('the announcement of a key', () => {
  test('gives the next key', () => {
    expect(readAnnouncement(announced, first.key)).toEqual(second.key)
    expect(announced.vkey).toBe(printVerifierKey(second.key))
  })

  test('is a signed note to other tools', () => {
    const text = `coffer audit key\n${announced.vkey}\n`
    const note = `${text}\n\u2014 ${origin} ${announced.signature}\n`
    expect(openNote(note, [first.key])).toMatchObject({ fault: undefined, text })
  })

  test.each([
    ['another key signed it', announceKey(second.key, third)],
    ['the key announces itself', announceKey(second.key, second)],
    ['another key was put in', { ...announced, vkey: printVerifierKey(third.key) }],
    ['its signature is empty', { ...announced, signature: '' }],
    ['its signature is no base64', { ...announced, signature: '!' }],
    [
      'its signature is that of another announcement',
      { ...announced, signature: announceKey(third.key, first).signature },
    ],
    ['it is of another log', announceKey(signerOf(2, 'coffer/else').key, first)],
    [
      'it announces a witness',
      announceKey(makeNoteSigner(origin, 'witness', new Uint8Array(32)).key, first),
    ],
    ['it announces no key', announce('x')],
    ['a line was put into its key', { ...announced, vkey: `${announced.vkey}\n` }],
    [
      'the signature of another text was put into its own',
      {
        vkey: announced.vkey,
        signature: `AAAAAAA=\n\n\u2014 ${origin} ${signatureOver(
          `coffer audit key\n${announced.vkey}\n\n\u2014 ${origin} AAAAAAA=\n`,
        )}`,
      },
    ],
  ])('is refused if %s', (_, announcement) => {
    expect(readAnnouncement(announcement, first.key)).toBeUndefined()
  })
})
