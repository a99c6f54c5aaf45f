/**
 * Random runs of the model of webhooks against the real vault and a real receiver.
 * @module
 */
import fc from 'fast-check'
import type { WebhookCommand } from './command.ts'
import * as commands from './commands.ts'
import { passMaking } from './feed.ts'
import * as happenings from './happenings.ts'
import { freshSeed } from '../../support/thorough.ts'
import { openHost, type Host } from './server.ts'

/** Weights of commands, by how much there is to find in each. */
const weighted: readonly (readonly [fc.Arbitrary<WebhookCommand>, number])[] = [
  [commands.creates, 4],
  [happenings.traffic, 12],
  [happenings.planned, 8],
  [happenings.releases, 3],
  [happenings.attempts, 4],
  [happenings.waits, 3],
  [commands.updates, 5],
  [commands.rotations, 3],
  [commands.retries, 4],
  [commands.replays, 3],
  [commands.pages, 2],
  [commands.tests, 2],
  [happenings.crashes, 3],
  [happenings.restarts, 1],
  [commands.deletes, 1],
  [commands.lists, 1],
  [commands.gets, 1],
]

const kinds = weighted.flatMap(([drawn, weight]) => Array.from({ length: weight }, () => drawn))

/** Each run begins with two webhooks. */
const beginning = fc.tuple(commands.creates, commands.creates)

export interface WebhookRuns {
  readonly numRuns: number
  readonly maxCommands: number
  /** Seed and path of a failed run, to repeat it: both stand in its report. */
  readonly seed?: number
  readonly path?: string
}

/** Tenants of one store: each has keys in locked memory. */
const runsPerHost = 50

/** Fails with the seed and the shortest run found in which model and vault differ. */
export async function checkWebhooks({ maxCommands, ...runs }: WebhookRuns): Promise<void> {
  const { seed = freshSeed() } = runs
  console.info(`webhooks: ${runs.numRuns} runs of seed ${seed}`)
  let host: Host | undefined
  let begun = 0
  const some = fc.array(fc.oneof(...kinds), { minLength: 5, maxLength: maxCommands, size: 'max' })
  const property = fc.asyncProperty(beginning, some, async (first, rest) => {
    if (host === undefined || begun === runsPerHost) {
      await host?.end()
      host = await openHost()
      begun = 0
    }
    begun += 1
    const { model, real } = await host.begin()
    await passMaking(model, real)
    try {
      for (const command of [...first, ...rest]) await command.run(model, real)
      await happenings.expectAllArrived(model, real)
    } catch (error) {
      // The rest of a failed run would come into the next one.
      host = undefined
      throw error
    }
  })
  await fc.assert(property, { ...runs, seed })
  await host?.end()
}
