import { expect, test } from 'bun:test'
import { faredOf } from './hostile-load/good-client.ts'

const quick = Array.from({ length: 75 }, () => 5)

test('one slow request among few is the longest, and two are in the p99 of the others', () => {
  expect(faredOf([...quick, 103])).toEqual({
    requests: 76,
    p99Ms: 103,
    othersP99Ms: 5,
    longestMs: 103,
  })
  expect(faredOf([102, ...quick, 103])).toMatchObject({ othersP99Ms: 102, longestMs: 103 })
})

test('a single request is no better than it was', () => {
  expect(faredOf([103])).toMatchObject({ othersP99Ms: 103 })
})
