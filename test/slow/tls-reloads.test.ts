/**
 * 200 changes of certificates while callers go on; prints what became of their requests.
 * @module
 */
import { expect, test } from 'bun:test'
import { reloadUnderLoad } from '../support/reload-under-load.ts'

test.each([
  ['one process', 1],
  ['two workers', 2],
])(
  '200 new certificates in %s fail no request',
  async (what, workers) => {
    const figures = await reloadUnderLoad(200, workers)
    const { lines, ...others } = figures
    console.log(JSON.stringify({ what, ...others, lines: lines.length }))
    expect(figures.failures).toEqual([])
    expect(figures.outdated).toBe(0)
  },
  1_200_000,
)
