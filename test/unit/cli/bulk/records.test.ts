/** Records of a file that is read in pieces: they are the same, however the pieces come. */
import { expect, test } from 'bun:test'
import { endOfLine, recordsOf, type TextRecord } from '../../../../src/cli/bulk/records.ts'
import { importRecordBytesMax } from '../../../../src/limits/operation-limits.ts'

type Told = Pick<TextRecord, 'line' | 'end' | 'fault'> & { readonly heard: number }

async function recordsIn(text: string, pieceBytes: number): Promise<readonly Told[]> {
  const bytes = Buffer.from(text)
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  let heard = 0
  const options = { findEnd: endOfLine, heard: (some: Uint8Array) => void (heard += some.length) }
  const told: Told[] = []
  for await (const { line, end, fault } of recordsOf(pieces(), options)) {
    told.push({ line, end, heard, ...(fault === undefined ? {} : { fault }) })
  }
  return told
}

const fault = expect.stringContaining(`longer than ${importRecordBytesMax} bytes`)
const longBytes = 2 * importRecordBytesMax
const long = 'x'.repeat(longBytes)
const sizes = [
  100_001,
  importRecordBytesMax,
  importRecordBytesMax + 2,
  longBytes + 1,
  10 * longBytes,
]

// proves E32.3
test.each(sizes)('a record that is too long ends where its line does, by %d bytes', async size => {
  const end = 2 + longBytes + 1
  expect(await recordsIn(`a\n${long}\nb\n`, size)).toEqual([
    { line: 1, end: 2, heard: 2 },
    { line: 2, end, heard: end, fault },
    { line: 3, end: end + 2, heard: end + 2 },
  ])
})

test.each(sizes)('one without a line end ends with the file, by %d bytes', async size => {
  const end = 2 + longBytes
  expect(await recordsIn(`a\n${long}`, size)).toEqual([
    { line: 1, end: 2, heard: 2 },
    { line: 2, end, heard: end, fault },
  ])
})
