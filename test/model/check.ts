/**
 * Random runs of the model against the real application.
 * @module
 */
import { expect } from 'bun:test'
import fc from 'fast-check'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import * as applications from './commands/applications.ts'
import * as lists from './commands/lists.ts'
import * as searches from './commands/searches.ts'
import * as sessions from './commands/sessions.ts'
import * as strangers from './commands/strangers.ts'
import * as time from './commands/time.ts'
import * as tokens from './commands/tokens.ts'
import type { ModelCommand } from './command.ts'
import { expectAgreement, furnish } from './run.ts'
import { addModelledTenant, openServer, type Server } from './server.ts'

/** Weights of commands, by how much there is to find in each. */
const weighted: readonly (readonly [fc.Arbitrary<ModelCommand>, number])[] = [
  [tokens.createTokens, 10],
  [tokens.patchTokens, 8],
  [tokens.getTokens, 5],
  [tokens.deleteTokens, 3],
  [tokens.useTokens, 2],
  [lists.listsOfTokens, 5],
  [lists.walksOfTokens, 3],
  [searches.searches, 6],
  [searches.walksOfSearches, 2],
  [searches.wrongSearches, 1],
  [searches.searchesForAll, 1],
  [lists.listsOfApplications, 1],
  [applications.createApplications, 4],
  [applications.updateApplications, 2],
  [applications.getApplications, 1],
  [applications.getOwnApplications, 1],
  [applications.regenerateKeys, 1],
  [applications.deleteApplications, 1],
  [sessions.createSessions, 3],
  [sessions.authorizeSessions, 3],
  [strangers.strangersOfTokens, 1],
  [strangers.strangersOfApplications, 1],
  [time.waits, 1],
  [time.waitForEnds, 3],
  [time.sweeps, 1],
  [time.restarts, 1],
]

const kinds = weighted.flatMap(([commands, weight]) =>
  Array.from({ length: weight }, () => commands),
)

export interface Runs {
  readonly numRuns: number
  readonly maxCommands: number
  /** No run begins after it: a busy machine does fewer of them. */
  readonly msMax?: number
  /** Seed of a failed run, to repeat it: all three stand in its report. */
  readonly seed?: number
  readonly path?: string
  readonly replayPath?: string
}

/** Rows and indexes agree after all that was done, and nothing had to be logged. */
async function expectSound({ vault }: Server): Promise<void> {
  expect(vault.logged).toEqual([])
  await vault.deps.store.close()
  const store = await openLmdbStore({ path: vault.folder })
  expect(await store.integrity()).toEqual([])
  await store.close()
}

/** Keys of tenants stay in locked memory while a process knows them: it is not to know many. */
const runsPerServer = 200

/** Returns the server of a run: that of the runs before, until it has had its number of runs. */
function openServers() {
  let server: Server | undefined
  let runs = 0
  const end = async () => {
    if (server !== undefined) await expectSound(server)
    server = undefined
  }
  const next = async (): Promise<Server> => {
    if (runs % runsPerServer === 0) await end()
    runs += 1
    return (server ??= await openServer())
  }
  return { next, end }
}

/** Fails with the seed and the shortest run found in which model and server differ. */
export async function checkModel({
  maxCommands,
  replayPath,
  msMax = Infinity,
  ...runs
}: Runs): Promise<void> {
  const { seed = Date.now() % 2 ** 31 } = runs
  console.info(`model: ${runs.numRuns} runs of seed ${seed}`)
  const servers = openServers()
  const replay = replayPath === undefined ? {} : { replayPath }
  const commands = fc.commands(kinds, { maxCommands, size: 'max', ...replay })
  const startedMs = performance.now()
  let begun = 0
  const property = fc.asyncProperty(commands, async run => {
    if (performance.now() - startedMs > msMax) return
    begun += 1
    const server = await servers.next()
    const model = await addModelledTenant(server)
    await furnish(model, server)
    await fc.asyncModelRun(() => ({ model, real: server }), run)
    await expectAgreement(model, server)
  })
  await fc.assert(property, { ...runs, seed })
  await servers.end()
  console.info(`model: ${begun} runs begun`)
}
