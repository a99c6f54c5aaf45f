/**
 * Keys and signed notes: the examples of the specification and of Go's module database, and notes
 * that are not as they must be.
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { printCheckpoint, readCheckpoint } from '../../../src/audit/checkpoint.ts'
import {
  makeNoteSigner,
  printVerifierKey,
  readVerifierKey,
  type NoteKey,
} from '../../../src/audit/note-keys.ts'
import { cosignatureLine, openNote, signNote } from '../../../src/audit/signed-note.ts'
import { ApiError } from '../../../src/lib/errors.ts'

/** Example keys of Go's `sumdb/note`. */
const peterVkey = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const peterSeed = Buffer.from('AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz', 'base64').subarray(1)
const enochVkey = 'EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop'
const peter = makeNoteSigner('PeterNeumann', 'log', peterSeed)
const enoch = readVerifierKey(enochVkey)

const text =
  'If you think cryptography is the answer to your problem,\n' +
  "then you don't know what your problem is.\n"
const peterLine =
  '\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdng' +
  'otpRZb6KE6RyyBwJnAM=\n'
const enochLine =
  '\u2014 EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWL' +
  'ox33WWd1RvMc+QQ=\n'
const note = `${text}\n${peterLine}`

const namesOf = (opened: ReturnType<typeof openNote>) =>
  opened.fault === undefined ? opened.by.map(({ key }) => key.name) : opened.fault

describe('a verifier key', () => {
  test.each([peterVkey, enochVkey])('%s is read and printed', vkey => {
    const key = readVerifierKey(vkey)
    expect([key.kind, key.publicKey.length, printVerifierKey(key)]).toEqual(['log', 32, vkey])
  })

  test('follows from the private key', () => {
    expect(printVerifierKey(peter.key)).toBe(peterVkey)
  })

  test('of a witness has another id and type', () => {
    const { key } = makeNoteSigner('PeterNeumann', 'witness', peterSeed)
    const vkey = 'PeterNeumann+18b9780b+BBpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
    expect(printVerifierKey(key)).toBe(vkey)
    expect(readVerifierKey(vkey)).toEqual(key)
  })

  const refusalOf = (vkey: string): unknown => {
    try {
      return readVerifierKey(vkey)
    } catch (error) {
      return error instanceof ApiError ? error.kind : error
    }
  }

  test('is refused in part, and with any character changed', () => {
    for (let from = 0; from <= peterVkey.length; from += 1) {
      for (let to = from + 1; to <= peterVkey.length; to += 1) {
        if (from === 0 && to === peterVkey.length) continue
        expect(refusalOf(peterVkey.slice(from, to))).toBe('invalid_request')
      }
      const code = peterVkey.charCodeAt(from)
      const changed = String.fromCharCode(code + 1)
      const other = peterVkey.slice(0, from) + changed + peterVkey.slice(from + 1)
      expect(refusalOf(other)).toBe('invalid_request')
    }
  })

  test.each([
    ['', 'its name, 8 hex digits and base64'],
    ['+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW', 'its name'],
    ['Peter Neumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW', 'its name'],
    ['Peter\u0085Neumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW', 'its name'],
    ['PeterNeumann+C74F20A3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW', '8 hex digits'],
    [`${peterVkey}\n`, 'base64'],
    ['PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==', 'base64'],
    ['PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW', 'key of Ed25519'],
    [
      'PeterNeumann+c74f20a3+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop',
      'copy the verifier key as a whole',
    ],
  ])('%p is refused, with the reason', (vkey, reason) => {
    expect(() => readVerifierKey(vkey)).toThrow(reason)
  })

  test.each([31, 33])('with %d bytes of a public key is refused', length => {
    const tagged = Uint8Array.of(1, ...new Uint8Array(length))
    const hashed = new Bun.CryptoHasher('sha256').update('a\n').update(tagged).digest('hex')
    const vkey = `a+${hashed.slice(0, 8)}+${tagged.toBase64()}`
    expect(() => readVerifierKey(vkey)).toThrow('key of Ed25519')
  })

  test('with a name that no note can have is not made', () => {
    for (const name of ['', 'a b', 'a+b', 'a\nb', 'a\u00a0b', 'a\u0001', '\ud800']) {
      expect(() => makeNoteSigner(name, 'log', peterSeed)).toThrow('a key has a name')
    }
  })
})

describe('a note', () => {
  test('is signed as Go signs it', () => {
    expect(signNote(text, [peter])).toBe(note)
  })

  test('has a signature that holds, and others that are ignored', () => {
    const both = note + enochLine
    expect(openNote(both, [peter.key])).toEqual({
      fault: undefined,
      text,
      by: [{ key: peter.key, atSeconds: undefined }],
    })
    expect(namesOf(openNote(both, [peter.key, enoch]))).toEqual(['PeterNeumann', 'EnochRoot'])
    expect(namesOf(openNote(both, [enoch]))).toEqual(['EnochRoot'])
    expect(namesOf(openNote(both, []))).toBe('no_known_key')
  })

  test('the example of the specification is well-formed', () => {
    const example =
      'Ognuno sta solo sul cuor della terra\ntrafitto da un raggio di sole:\n\n' +
      'ed \u00e8 subito sera.\n\n' +
      '\u2014 quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9o' +
      'JKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=\n'
    expect(namesOf(openNote(example, [peter.key]))).toBe('no_known_key')
  })

  test('is divided at its last blank line', () => {
    const inner = `first\n\n${peterLine}last\n`
    const opened = openNote(signNote(inner, [peter]), [peter.key])
    expect(opened).toMatchObject({ fault: undefined, text: inner })
  })

  test('lists each key once', () => {
    const twice = note + peterLine + enochLine + enochLine
    expect(namesOf(openNote(twice, [peter.key]))).toEqual(['PeterNeumann'])
  })

  test('a key of the same name or the same id, but not both, is another key', () => {
    const sameName: NoteKey = { ...peter.key, id: 'c74f20a4' }
    const sameId: NoteKey = { ...peter.key, name: 'PeterNeuman' }
    expect(namesOf(openNote(note, [sameName, sameId]))).toBe('no_known_key')
  })

  test('two keys of one name and one id: the right one opens it', () => {
    const twin: NoteKey = { ...enoch, name: peter.key.name, id: peter.key.id }
    expect(openNote(note, [twin, peter.key])).toMatchObject({ by: [{ key: peter.key }] })
    expect(namesOf(openNote(note, [twin]))).toBe('wrong_signature')
  })

  test('one wrong signature of a known key makes all of it wrong', () => {
    const wrong = peterLine.replace('UgYN', 'UgYM')
    for (const lines of [wrong, wrong + peterLine, peterLine + wrong]) {
      expect(namesOf(openNote(`${text}\n${lines}`, [peter.key]))).toBe('wrong_signature')
    }
    const longer = peterLine.replace('UgYN', 'UgYNABCD')
    expect(namesOf(openNote(`${text}\n${longer}`, [peter.key]))).toBe('wrong_signature')
    expect(namesOf(openNote(`${text}\n${longer}${enochLine}`, [enoch]))).toEqual(['EnochRoot'])
  })

  test('holds with no character changed', () => {
    fc.assert(
      fc.property(fc.nat(note.length - 1), fc.nat(0x2fff), (at, code) => {
        const changed = note.slice(0, at) + String.fromCharCode(code) + note.slice(at + 1)
        fc.pre(changed !== note)
        expect(openNote(changed, [peter.key]).fault).toBeDefined()
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    ['empty', ''],
    ['no signatures', text],
    ['a blank line, and no signature', `${text}\n`],
    ['no text', `x${peterLine}`],
    ['no end of its last line', note.slice(0, -1)],
    ['a control character', `\u0001${note}`],
    ['a tab', `a\tb\n\n${peterLine}`],
    ['a carriage return', note.replaceAll('\n', '\r\n')],
    ['a lone surrogate', `\ud800${note}`],
    ['a line behind the signatures', `${note}Unexpected line.\n`],
    ['a blank line among the signatures', `${note}\n${enochLine}\n`],
    ['a hyphen for a dash', note.replace('\u2014', '-')],
    ['a name with a blank', `${text}\n\u2014 Bad Name ${peterLine.slice(15)}`],
    ['a name with another space', note.replace('Neumann', '\u2003umann')],
    ['a name with a plus', note.replace('Neumann', '+eumann')],
    ['no name', note.replace('PeterNeumann', '')],
    ['no base64', note.replace('x08g', 'x0_g')],
    ['base64 without its padding', note.replace('AM=', 'AM')],
    ['base64 with bits behind its end', note.replace('AM=', 'AN=')],
    ['a blank behind the signature', note.replace('AM=', 'AM= ')],
    ['a signature of an id alone', `${text}\n\u2014 PeterNeumann x08gow==\n`],
    ['101 signatures', `${text}\n${peterLine.repeat(101)}`],
    ['a million characters', `${'a'.repeat(1_000_000)}\n\n${peterLine}`],
  ])('is malformed with %s', (_, malformed) => {
    expect(openNote(malformed, [peter.key, enoch])).toEqual({ fault: 'malformed' })
  })

  test('may have a text of a blank line', () => {
    expect(namesOf(openNote(`\n\n${peterLine}`, [peter.key]))).toBe('wrong_signature')
    expect(namesOf(openNote(signNote('\n', [peter]), [peter.key]))).toEqual(['PeterNeumann'])
  })

  test('may have 100 signatures', () => {
    const many = `${text}\n${enochLine.repeat(99)}${peterLine}`
    expect(namesOf(openNote(many, [peter.key]))).toEqual(['PeterNeumann'])
  })

  test('no half a line and no control character is signed', () => {
    for (const bad of ['', 'abc', 'a\tb\n', '\ud800\n']) {
      expect(() => signNote(bad, [peter])).toThrow('whole lines of plain text')
    }
  })
})

describe('a cosignature', () => {
  const witness = makeNoteSigner('PeterNeumann', 'witness', peterSeed)
  const checkpoint = 'coffer/test\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n'
  /** Made by `transparency-dev/formats` 0.1.0 in Go. */
  const line =
    '\u2014 PeterNeumann GLl4CwAAAABrCO7yQPV1zsj4vDaX6xuCVu71c7/9uLgtLH685aJm+X/6228/2klygC4bcW/s' +
    'Mt6qJyExB8/E5R7VIzuhZy39BmjlDQ==\n'
  const atSeconds = 0x6b08eef2

  test('is made as Go makes it', () => {
    expect(cosignatureLine(checkpoint, witness, atSeconds)).toBe(line)
  })

  test('holds, and tells its time', () => {
    const opened = openNote(`${checkpoint}\n${line}`, [witness.key, peter.key])
    expect(opened).toMatchObject({ fault: undefined, by: [{ key: witness.key, atSeconds }] })
  })

  test('is added to the note of the log', () => {
    const noted = signNote(checkpoint, [peter]) + cosignatureLine(checkpoint, witness, 1)
    const opened = openNote(noted, [peter.key, witness.key])
    expect(opened.fault === undefined && opened.by.map(({ key }) => key.kind)).toEqual([
      'log',
      'witness',
    ])
  })

  test('does not hold for another text, another time or as a signature of a log', () => {
    const other = checkpoint.replace('20852163', '20852164')
    expect(namesOf(openNote(`${other}\n${line}`, [witness.key]))).toBe('wrong_signature')
    const later = line.replace('ABrCO7y', 'ABrCO7z')
    expect(namesOf(openNote(`${checkpoint}\n${later}`, [witness.key]))).toBe('wrong_signature')
    expect(namesOf(openNote(`${checkpoint}\n${line}`, [peter.key]))).toBe('no_known_key')
    const posing: NoteKey = { ...peter.key, id: witness.key.id }
    expect(namesOf(openNote(`${checkpoint}\n${line}`, [posing]))).toBe('wrong_signature')
  })

  test('does not hold without its time, or with one that no clock shows', () => {
    const bytes = Buffer.from(line.slice(15), 'base64')
    const withTime = (time: Buffer) => {
      const signature = Buffer.concat([bytes.subarray(0, 4), time]).toString('base64')
      return `${checkpoint}\n\u2014 PeterNeumann ${signature}\n`
    }
    for (const time of [
      bytes.subarray(12),
      Buffer.concat([Buffer.alloc(8, 255), bytes.subarray(12)]),
      bytes.subarray(4, 12),
      bytes.subarray(4, 8),
    ]) {
      expect(namesOf(openNote(withTime(time), [witness.key]))).toBe('wrong_signature')
    }
  })

  test('does not hold with a time beyond all clocks, though it is signed', () => {
    const beyond = cosignatureLine(checkpoint, witness, 2 ** 60)
    expect(namesOf(openNote(`${checkpoint}\n${beyond}`, [witness.key]))).toBe('wrong_signature')
  })

  test('is made by a witness only, and a signature without time by a log only', () => {
    expect(() => cosignatureLine(checkpoint, peter, 1)).toThrow('without a time')
    expect(() => signNote(checkpoint, [witness])).toThrow('with the time')
  })
})

describe('the text of a checkpoint', () => {
  const root = Buffer.alloc(32, 7)
  const encoded = root.toString('base64')

  test('the example of the specification is read and printed', () => {
    const example =
      'example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n'
    const checkpoint = readCheckpoint(example)
    expect(checkpoint).toMatchObject({ origin: 'example.com/behind-the-sofa', size: 20_852_163 })
    expect(checkpoint && printCheckpoint(checkpoint)).toBe(example)
  })

  test.each([0, 1, 2 ** 48 - 1])('of %d entries is read and printed', size => {
    const printed = printCheckpoint({ origin: 'coffer/x', size, root })
    expect(printed).toBe(`coffer/x\n${size}\n${encoded}\n`)
    expect(readCheckpoint(printed)).toMatchObject({ origin: 'coffer/x', size })
  })

  test('may have further lines', () => {
    expect(readCheckpoint(`o\n5\n${encoded}\nmore\n`)).toMatchObject({ size: 5 })
  })

  test.each([
    ['two lines', `o\n5\n`],
    ['no origin', `\n5\n${encoded}\n`],
    ['no line feed at its end', `o\n5\n${encoded}`],
    ['no line feed at the end of a further line', `o\n5\n${encoded}\nmore`],
    ['a blank line', `o\n5\n${encoded}\n\nmore\n`],
    ['a leading zero', `o\n05\n${encoded}\n`],
    ['a sign', `o\n+5\n${encoded}\n`],
    ['a blank before the size', `o\n 5\n${encoded}\n`],
    ['no decimal size', `o\n0x5\n${encoded}\n`],
    ['digits of another script', `o\n\u0665\n${encoded}\n`],
    ['an exponent', `o\n1e3\n${encoded}\n`],
    ['a size beyond all', `o\n281474976710656\n${encoded}\n`],
    ['a size of twenty digits', `o\n${'9'.repeat(20)}\n${encoded}\n`],
    ['a root of 31 bytes', `o\n5\n${Buffer.alloc(31).toString('base64')}\n`],
    ['a root of 33 bytes', `o\n5\n${Buffer.alloc(33).toString('base64')}\n`],
    ['a root without its padding', `o\n5\n${encoded.slice(0, -1)}\n`],
    ['a root in hex', `o\n5\n${root.toString('hex')}\n`],
  ])('with %s is refused', (_, bad) => {
    expect(readCheckpoint(bad)).toBeUndefined()
  })

  test('is not printed of what is none', () => {
    expect(() => printCheckpoint({ origin: 'a b', size: 1, root })).toThrow('origin')
    expect(() => printCheckpoint({ origin: 'o', size: 0.5, root })).toThrow('a size and a root')
    expect(() => printCheckpoint({ origin: 'o', size: 2 ** 48, root })).toThrow('a size')
    expect(() => printCheckpoint({ origin: 'o', size: 1, root: root.subarray(1) })).toThrow('root')
  })
})
