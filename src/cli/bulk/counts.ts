/**
 * `coffer token counts`: the number of tokens, by type and container.
 * @module
 */
import type { Command } from 'commander'
import type { Client } from '../../client/index.ts'
import { countedCharsMax } from '../../limits/operation-limits.ts'
import { sayJson } from '../../server/process/system.ts'
import { answerOf, isCounted } from '../answer-shapes.ts'
import { asMany, makeTextRoom } from '../bounded-walk.ts'
import { takesCaller, withClient, type ReachOptions } from '../reach.ts'
import { printTable, tableOf } from '../table.ts'

type Count = { readonly type: string; readonly container: string; count: number }

/** Counts the tokens that the key may read, in one walk. */
async function countAll({ tokens }: Client): Promise<ReadonlyMap<string, Count>> {
  const { pagination } = await answerOf(isCounted, tokens.listPage({ size: 1 }))
  const noteTexts = makeTextRoom(countedCharsMax, 'containers')
  const counts = new Map<string, Count>()
  for await (const { type, containers } of asMany(pagination.total_items, tokens.list())) {
    const container = containers?.[0] ?? '-'
    const kind = `${type} ${container}`
    const standing = counts.get(kind)
    if (standing !== undefined) standing.count += 1
    else {
      noteTexts(kind)
      counts.set(kind, { type, container, count: 1 })
    }
  }
  return counts
}

const tellCounts = (options: ReachOptions): Promise<void> =>
  withClient(options, async client => {
    const counts = await countAll(client)
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
    .action(tellCounts)
}
