/**
 * `coffer access`: what applications may see, which rule decides, and what a change would do, asked
 * of the vault as a caller.
 * @module
 */
import { Option, type Command } from 'commander'
import type { Access, ExplainAccessRequest, SimulateAccessRequest } from '../../client/index.ts'
import { toPlain } from '../../lib/json/json.ts'
import { sayJson, sayNow } from '../../server/process/system.ts'
import { usage } from '../../server/process/failure.ts'
import { answerOf, isAccess, isSimulation } from '../answer-shapes.ts'
import { reviewAccess, type ReviewOptions } from './access-review.ts'
import { readJsonInput } from '../input.ts'
import { takesCaller, withClient, type ReachOptions } from '../reach.ts'
import { printTable, shown, tableOf } from '../table.ts'

interface ExplainOptions extends ReachOptions {
  readonly app?: string
  readonly session?: string
  readonly permission?: string
  readonly operation?: string
  readonly container?: string
}

/** The vault refuses names that it does not know. */
function questionOf(tokenId: string | undefined, options: ExplainOptions): ExplainAccessRequest {
  const { app, session, permission, operation, container } = options
  if ((tokenId === undefined) === (container === undefined)) {
    throw usage('expected either the id of a token, or --container')
  }
  if ((app === undefined) === (session === undefined)) throw usage('expected --app or --session')
  const asked = operation === undefined ? { permission: permission ?? 'token:read' } : { operation }
  if (permission !== undefined && operation !== undefined) {
    throw usage('--permission: expected without --operation, which asks for one')
  }
  return {
    ...asked,
    ...(app === undefined ? { session_id: session } : { application_id: app }),
    ...(container === undefined ? { token_id: tokenId } : { place: { containers: [container] } }),
  } as ExplainAccessRequest
}

const stepsOf = ({ steps }: Access) =>
  steps.map(({ rule, priority, container, transform, holds_permission, covers, decides }) => ({
    rule,
    priority,
    container,
    transform,
    'holds it': holds_permission,
    covers,
    decides,
  }))

const columns = ['rule', 'priority', 'container', 'transform', 'holds it', 'covers', 'decides']

const explainAccess = (id: string | undefined, options: ExplainOptions): Promise<void> =>
  withClient(options, async ({ access }) => {
    const told = await answerOf(isAccess, access.explain(questionOf(id, options)))
    if (options.json === true) return sayJson(told)
    sayNow(shown(told.text))
    printTable(tableOf(stepsOf(told), columns))
  })

/** Reads the grants from standard input, as an update takes them. */
const simulateAccess = (applicationId: string, options: ReachOptions): Promise<void> =>
  withClient(options, async ({ access }) => {
    const proposed = toPlain(readJsonInput('the permissions and rules'))
    const question = { application_id: applicationId, proposed } as SimulateAccessRequest
    const { changes } = await answerOf(isSimulation, access.simulate(question))
    if (options.json === true) return sayJson({ changes })
    if (changes.length === 0) return sayNow('No token would be seen otherwise.')
    const rows = changes.map(each => ({ ...each, samples: each.samples.join(' ') }))
    printTable(tableOf(rows, ['permission', 'from', 'to', 'count', 'samples']))
  })

export function addAccess(program: Command): void {
  const access = program.command('access').description('who may see what, and why')
  takesCaller(access.command('explain [token]'))
    .description('which rule decides over a token, and why others do not')
    .option('--app <id>', 'of whom: an application')
    .option('--session <id>', 'or a session')
    .option('--permission <name>', 'for what, if it is not token:read')
    .option('--operation <name>', 'or an operation, such as searchTokens')
    .option('--container <path>', 'a place in place of a token')
    .action(explainAccess)
  takesCaller(access.command('simulate <app>'))
    .description('how many tokens an application would see otherwise with the grants on stdin')
    .action(simulateAccess)
  takesCaller(access.command('review'))
    .description('which applications may reveal how many tokens of which container')
    .addOption(new Option('--format <format>', 'of what is printed').choices(['table', 'csv']))
    .action((options: ReviewOptions) => reviewAccess(options))
}
