/**
 * `coffer token counts`: the number of tokens, by type and container.
 * @module
 */
import type { Command } from 'commander'
import { sayJson } from '../../server/process/system.ts'
import { takesCaller, withClient, type ReachOptions } from '../reach.ts'
import { printTable, tableOf } from '../table.ts'

type Count = { readonly type: string; readonly container: string; count: number }

/** Counts the tokens that the key may read, in one walk. */
const countTokens = (options: ReachOptions): Promise<void> =>
  withClient(options, async ({ tokens }) => {
    const counts = new Map<string, Count>()
    for await (const { type, containers } of tokens.list()) {
      const container = containers?.[0] ?? '-'
      const count = counts.get(`${type} ${container}`) ?? { type, container, count: 0 }
      count.count += 1
      counts.set(`${type} ${container}`, count)
    }
    const rows = [...counts.entries()]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, count]) => count)
    const total = rows.reduce((sum, { count }) => sum + count, 0)
    if (options.json === true) return sayJson({ total, counts: rows })
    printTable(
      tableOf(
        [...rows, { type: 'all', container: '', count: total }],
        ['type', 'container', 'count'],
      ),
    )
  })

export function addCounts(token: Command): void {
  takesCaller(token.command('counts'))
    .description('how many tokens there are, by type and container')
    .action(countTokens)
}
