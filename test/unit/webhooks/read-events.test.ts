/**
 * Readings of events for webhooks, beside other long work.
 * @module
 */
import { expect, test } from 'bun:test'
import { makeScheduler } from '../../../src/lib/work.ts'
import { pagesOrdinal } from '../../../src/limits/work-limits.ts'
import { makeEventFinder, makeEventReader } from '../../../src/webhooks/read-events.ts'

const waitingPages = 50

function beside() {
  const turns = makeScheduler(() => 0)
  const reads = {
    store: { bundles: async () => [] } as never,
    keys: {} as never,
    log: () => {},
    elapsedMs: () => 0,
    turns,
  }
  let left = waitingPages
  for (let page = 0; page < waitingPages; page += 1) {
    void turns.next(pagesOrdinal).then(() => (left -= 1))
  }
  return { reads, pagesLeft: () => left }
}

test('are not behind all pages that anybody loads, with no key', async () => {
  const { reads, pagesLeft } = beside()
  await makeEventReader(reads)(0, 1)
  await makeEventFinder(reads, { tenantId: 'a', from: 0 })(0)
  expect(pagesLeft()).toBeGreaterThan(waitingPages / 2)
})
