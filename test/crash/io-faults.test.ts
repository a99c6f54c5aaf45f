/**
 * Reading of a trace by the harness: which answers count as early.
 * @module
 */
import { expect, test } from 'bun:test'
import { countEarly, readTrace } from './faults/trace-answers.ts'

const sync = '4009  fdatasync(6)                      = 0 (DELAYED)'
const page = '4009  pwrite64(6, "\\2\\0"..., 4096, 8192) = 4096'
const meta = '4009  pwrite64(7, "\\0\\0"..., 128, 4136) = 128'
const answer = '4001  sendto(13, "HTTP/1.1 201 Created\\r\\nCache"..., 482, 0, NULL, 0) = 482'

const earlyIn = (...lines: string[]): number => countEarly(readTrace(lines.join('\n')))

test('an answer after a sync and a meta page is honest, one for each', () => {
  expect(earlyIn(page, sync, meta, answer, page, sync, meta, answer)).toBe(0)
  expect(earlyIn(page, sync, meta, answer, answer)).toBe(1)
})

test('an answer before the sync or the meta page has returned is early', () => {
  expect(earlyIn(page, answer, sync, meta)).toBe(1)
  expect(earlyIn(page, sync, answer, meta)).toBe(1)
  expect(earlyIn(meta, answer)).toBe(1)
})

test('a call in two lines counts from where it returned, an answer from where it began', () => {
  const begun = '4009  fdatasync(6 <unfinished ...>'
  const done = '4009  <... fdatasync resumed>)           = 0 (DELAYED)'
  expect(earlyIn(begun, done, meta, answer)).toBe(0)
  expect(earlyIn(begun, answer.replace(/, 482.*/, ' <unfinished ...>'), done, meta)).toBe(1)
})

test('a sync that failed and an answer that refuses count as none', () => {
  const failed = '4009  fdatasync(6) = -1 EIO (Input/output error) (DELAYED)'
  expect(earlyIn(failed, meta, answer)).toBe(1)
  expect(readTrace(answer.replace('201', '503'))).toEqual([])
})
