/**
 * A server of its own, queried over one kept-alive connection on a Unix socket.
 *
 * @module
 */
import { join } from 'node:path'
import { runCoffer, startCoffer } from '../../test/support/coffer-process.ts'
import { openConnection, type Connection } from '../../test/support/connection.ts'
import type { Random } from '../seed/random.ts'
import type { Comparison, Group } from './measure.ts'
import { kindsOf, makeRefusals, type Ask, type Reasons, type Refusals } from './refusals.ts'

const askOf =
  (connection: Connection): Ask =>
  async (method, path, key, body) => {
    const { status, text } = await connection.ask(method, path, { key, body })
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${text}`)
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
  }

/** With a trace id of ours, all answers of a group are equal, byte for byte. */
const headers = { 'svc-trace-id': 'timing' }

async function groupOf(
  title: string,
  reasons: Reasons,
  status: number,
  ask: (text: string) => ReturnType<Connection['ask']>,
): Promise<Group> {
  const answers: string[] = []
  for (const text of Object.values(reasons).flat()) {
    const answer = await ask(text)
    answers.push(`${answer.status} ${answer.text}`)
  }
  const [first = '', ...others] = new Set(answers)
  if (!first.startsWith(`${status} `) || others.length > 0) {
    throw new Error(`${title}: expected the same ${status} for all`)
  }
  return { title, kinds: kindsOf(reasons, ask) }
}

/** On its own connection, since one that idles while things expire is closed. */
async function refusalsOf(unix: string, managementKey: string, random: Random): Promise<Refusals> {
  const connection = await openConnection({ unix })
  const world = { ask: askOf(connection), managementKey, random, letPass: Bun.sleep }
  return makeRefusals(world, Date.now())
}

/** A server that ends with this process, in any case. */
async function startServer(data: string, unix: string) {
  // Otherwise too many look-ups in vain would be refused for their number.
  const unbounded = ['--lookup-guesses-per-minute-max', '0']
  const server = await startCoffer(['serve', '--data', data, '--socket', unix, ...unbounded])
  const kill = () => process.kill(server.pid, 'SIGKILL')
  process.on('exit', kill)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
  return {
    async stop() {
      process.off('exit', kill)
      await server.end('SIGTERM')
    },
  }
}

/** @param folder empty, for the data folder and the socket */
export async function compareAnswers(folder: string, random: Random): Promise<Comparison> {
  const data = join(folder, 'data')
  const unix = join(folder, 'socket')
  const made = await runCoffer(['init', '--data', data, '--json'])
  const { key: managementKey } = JSON.parse(made.stdout) as { key: string }
  const server = await startServer(data, unix)
  const refusals = await refusalsOf(unix, managementKey, random)
  const { applicationKeys, sessionKeys, tokenIds, readerKey } = refusals
  const connection = await openConnection({ unix })
  const askAs = (key: string) => connection.ask('GET', '/applications/key', { key, headers })
  const askFor = (id: string) => connection.ask('GET', `/tokens/${id}`, { key: readerKey, headers })
  return {
    groups: [
      await groupOf('401, keys of applications', applicationKeys, 401, askAs),
      await groupOf('401, keys of sessions', sessionKeys, 401, askAs),
      await groupOf('404, tokens', tokenIds, 404, askFor),
    ],
    async close() {
      connection.close()
      await server.stop()
    },
  }
}
