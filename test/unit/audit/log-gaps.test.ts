/** Entries that were pruned, or removed, while a reader of the log was at others. */
import { expect, test } from 'bun:test'
import { sealBundle } from '../../../src/audit/bundle.ts'
import { entriesFrom } from '../../../src/audit/read-log.ts'
import { randomBytes } from '../../../src/server/process/system.ts'
import type { StoredBundle } from '../../../src/store/contract.ts'

const keys = { auditKey: new Uint8Array(32).fill(7) }

function bundleOf(first: number, count: number): StoredBundle {
  const entry = { atMs: 1, operation: 'getToken', entityIds: [], result: 200 }
  return {
    first,
    ...sealBundle(
      keys,
      randomBytes,
      Array.from({ length: count }, () => entry),
    ),
  }
}

// proves E32.5
test.each([
  ['none', [bundleOf(0, 2), bundleOf(2, 3)], 1, [1, 2, 3, 4]],
  ['the first', [bundleOf(2, 2)], 0, ['0 to 1', 2, 3]],
  ['some between', [bundleOf(0, 2), bundleOf(7, 1)], 1, [1, '2 to 6', 7]],
] as const)(
  'a reader is told where entries are missing: %s',
  async (_, bundles, from, expected) => {
    const told: (number | string)[] = []
    const store = {
      bundles: async (range: { readonly from: number } | { readonly before: number }) =>
        bundles
          .filter(({ first, leaves }) => 'from' in range && first + leaves.length > range.from)
          .slice(0, 1),
    }
    const onGap = (first: number, last: number): void => void told.push(`${first} to ${last}`)
    for await (const { sequence } of entriesFrom({ store, keys }, from, onGap)) told.push(sequence)
    expect(told).toEqual([...expected])
  },
)
