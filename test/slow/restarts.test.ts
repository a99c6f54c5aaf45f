/**
 * Twenty restarts while callers go on; prints what became of their requests.
 * @module
 */
import { expect, test } from 'bun:test'
import { restartUnderLoad } from '../support/restart-under-load.ts'

test.each([
  ['one process', '1'],
  ['three workers', '3'],
])(
  '20 restarts of %s refuse and cut nothing',
  async (what, workers) => {
    const { lines, exitCodes, ...figures } = await restartUnderLoad(20, '--workers', workers)
    console.log(JSON.stringify({ what, ...figures }))
    expect(figures.failures).toEqual([])
    expect(lines).toEqual([])
    expect(exitCodes).toEqual(Array.from({ length: 21 }, () => 0))
  },
  1_200_000,
)
