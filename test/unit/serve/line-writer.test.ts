/**
 * Lines of the log that nobody can take.
 * @module
 */
import { expect, test } from 'bun:test'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeLineWriter } from '../../../src/server/watch/line-writer.ts'
import { temporaryFolder } from '../../support/folders.ts'

const batchBytes = 64
const told = (count: number): string => `dropped ${count}\n`

// A disk that is full, for every write.
test.skipIf(process.platform !== 'linux')(
  'a write that fails is tried once, and rests',
  async () => {
    const file = openSync('/dev/full', 'w')
    let reports = 0
    const writer = makeLineWriter(file, batchBytes, count => {
      reports += 1
      return told(count)
    })
    writer.write('one\n')
    writer.write('two\n')
    await writer.end()
    expect([writer.isIdle(), reports]).toEqual([true, 0])
    closeSync(file)
  },
)

test('dropped lines are told in full, behind a line that was written again', async () => {
  const path = join(temporaryFolder(), 'log')
  // This descriptor is closed; the next open gets its number.
  const file = openSync(path, 'w')
  closeSync(file)
  const writer = makeLineWriter(file, batchBytes, told)
  for (const line of ['one\n', 'two\n', 'three\n']) writer.write(line)
  await writer.end()
  expect(openSync(path, 'w')).toBe(file)
  writer.write('four\n')
  await writer.end()
  expect(readFileSync(path, 'latin1')).toBe('four\ndropped 3\n')
  closeSync(file)
})

test('a line keeps its characters, as the signatures of checkpoints have them', async () => {
  const path = join(temporaryFolder(), 'log')
  const file = openSync(path, 'w')
  const writer = makeLineWriter(file, batchBytes, told)
  const line = `${JSON.stringify({ note: '— vault Az09+/=\n' })}\n`
  writer.write(line)
  await writer.end()
  closeSync(file)
  expect(readFileSync(path, 'utf8')).toBe(line)
})
