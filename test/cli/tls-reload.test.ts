/**
 * SIGHUP while callers go on: certificates change, and no request fails. `test/slow` does it more
 * often.
 * @module
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { reloadUnderLoad } from '../support/reload-under-load.ts'

setDefaultTimeout(300_000)

const events = (lines: readonly string[]): (string | undefined)[] =>
  lines.map(line => (JSON.parse(line) as { event?: string }).event)

// proves S33
test('20 new certificates in one process fail no request', async () => {
  const { requests, failures, lines } = await reloadUnderLoad(20, 1)
  expect(failures).toEqual([])
  expect(requests).toBeGreaterThan(100)
  expect(new Set(events(lines))).toEqual(new Set(['tls_reloaded']))
})

test('5 new certificates in each of two workers fail no request', async () => {
  const { failures, lines } = await reloadUnderLoad(5, 2)
  expect(failures).toEqual([])
  expect(new Set(events(lines))).toEqual(new Set(['tls_reloaded']))
})
