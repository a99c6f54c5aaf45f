/**
 * A serving process that receives marks, and all its output.
 *
 * @module
 */
import { join } from 'node:path'
import { runCoffer, startCoffer, type Running } from '../coffer-process.ts'
import { temporaryFolder } from '../folders.ts'
import { operationsOf, type OpenApiDocument, type Placed } from '../openapi.ts'
import { until } from '../until.ts'
import { exchange, jsonOf, requestText, type RawAnswer } from '../wire.ts'
import { write, type Keys, type Written } from './hostile.ts'
import { mark } from './marks.ts'
import { newToken, newWebhook, type Sent, type World } from './requests.ts'

export interface Outcome {
  readonly request: Written
  /** Missing if the server just closed the connection. */
  readonly answer: RawAnswer | undefined
  /** All bytes received. */
  readonly text: string
}

export interface LeakVault {
  readonly data: string
  readonly keys: Keys
  /** Keys and nonces: shown once in an answer and never again. */
  readonly shownOnce: readonly string[]
  readonly world: World
  readonly ask: (request: Written) => Promise<Outcome>
  /** Sends a good request by its own credential. @throws Error unless it succeeds */
  readonly succeed: (sent: Sent, success: number) => Promise<Outcome>
  /** Ends the process. @returns its exit code, and all its output with its log */
  readonly end: (
    signal: NodeJS.Signals,
  ) => Promise<{ exitCode: number; written: string; logged: string }>
  readonly start: () => Promise<void>
}

const portOf = (line: string): number => Number(/:(\d+)\s*$/.exec(line)?.[1])

const bytesOf = ({ method, target, headers, body }: Written): Buffer => {
  const bytes = Buffer.from(body)
  const length = { 'Content-Length': String(bytes.length) }
  return Buffer.concat([Buffer.from(requestText(method, target, { ...headers, ...length })), bytes])
}

const memberOf = ({ text, answer }: Outcome, name: string): string => {
  const value = answer === undefined ? undefined : jsonOf(answer)[name]
  if (typeof value !== 'string') throw new Error(`no ${name}: ${text}`)
  return value
}

const permissions = ['create', 'read', 'update', 'delete', 'search', 'use'].map(
  name => `token:${name}`,
)

/** Sees all plaintext. */
const backend = () => ({
  name: mark(),
  type: 'private',
  rules: [{ priority: 1, container: '/', transform: 'reveal', permissions }],
})

const inBrowser = () => ({ name: mark(), type: 'public', permissions: ['token:create'] })

type Succeed = LeakVault['succeed']

function webhooksOf(succeed: Succeed, shownOnce: string[]): Pick<World, 'webhook' | 'delivery'> {
  const as = 'management'
  const listed = async <T>(target: string): Promise<readonly T[]> => {
    const { answer } = await succeed({ method: 'GET', target, as }, 200)
    return (answer === undefined ? {} : jsonOf(answer))['data'] as readonly T[]
  }
  async function webhook(): Promise<string> {
    for (const { id } of await listed<{ readonly id: string }>('/webhooks')) {
      await succeed({ method: 'DELETE', target: `/webhooks/${id}`, as }, 204)
    }
    const body = newWebhook()
    const made = await succeed({ method: 'POST', target: '/webhooks', as, body }, 201)
    shownOnce.push(memberOf(made, 'secret'))
    return memberOf(made, 'id')
  }
  return {
    webhook,
    async delivery() {
      const id = await webhook()
      await succeed({ method: 'POST', target: `/webhooks/${id}/test`, as }, 204)
      let sequence: number | undefined
      await until(async () => {
        const target = `/webhooks/${id}/deliveries`
        sequence = (await listed<{ readonly sequence: number }>(target))[0]?.sequence
        return sequence !== undefined
      })
      return { webhook: id, sequence: sequence ?? 0 }
    },
  }
}

/** Waits until a checkpoint covers an entry of the tenant. */
async function signedEntryBy(succeed: Succeed): Promise<number> {
  const as = 'management'
  const { answer } = await succeed({ method: 'GET', target: '/logs?page=1&size=1', as }, 200)
  const [entry] = (answer === undefined ? {} : jsonOf(answer))['data'] as [{ readonly id: string }]
  const sequence = Number(entry.id)
  await until(async () => {
    // 404 until the first is signed.
    const asked = succeed({ method: 'GET', target: '/logs/checkpoint', as }, 200)
    const told = await asked.catch(() => undefined)
    return told?.answer !== undefined && Number(jsonOf(told.answer)['size']) > sequence
  })
  return sequence
}

function worldOf(succeed: Succeed, shownOnce: string[]) {
  const addApplication = async (body: object): Promise<Outcome> => {
    const made = await succeed(
      { method: 'POST', target: '/applications', as: 'management', body },
      201,
    )
    shownOnce.push(memberOf(made, 'key'))
    return made
  }
  const addSession = async () => {
    const made = await succeed({ method: 'POST', target: '/sessions', as: 'public' }, 201)
    shownOnce.push(memberOf(made, 'session_key'), memberOf(made, 'nonce'))
    return made
  }
  const world: World = {
    async token() {
      const body = newToken()
      await succeed({ method: 'POST', target: '/tokens', as: 'private', body }, 201)
      return body.id
    },
    application: async () => memberOf(await addApplication(backend()), 'id'),
    async applicationKey() {
      const application = memberOf(await addApplication(backend()), 'id')
      const target = `/applications/${application}/keys`
      const made = await succeed({ method: 'POST', target, as: 'management' }, 201)
      shownOnce.push(memberOf(made, 'key'))
      return { application, key: memberOf(made, 'id') }
    },
    nonce: async () => memberOf(await addSession(), 'nonce'),
    session: async () => memberOf(await addSession(), 'id'),
    signedEntry: () => signedEntryBy(succeed),
    ...webhooksOf(succeed, shownOnce),
  }
  return { world, addApplication }
}

export async function openLeakVault(): Promise<LeakVault> {
  const data = join(temporaryFolder(), 'data')
  const { stdout } = await runCoffer(['init', '--data', data, '--json'])
  const management = (JSON.parse(stdout) as { key: string }).key
  const shownOnce = [management]
  const keys = { management, private: '', public: '' }
  let server: Running | undefined
  let port = 0

  const start = async (): Promise<void> => {
    server = await startCoffer(['serve', '--data', data, '--port', '0', '--log-requests', 'all'])
    port = portOf(server.ready)
  }

  const ask: LeakVault['ask'] = async request => {
    const { answers, text } = await exchange(port, bytesOf(request))
    return { request, answer: answers[0], text }
  }

  const succeed: Succeed = async (sent, success) => {
    const outcome = await ask(write(sent, keys))
    if (outcome.answer?.status === success) return outcome
    throw new Error(`${sent.method} ${sent.target}: ${outcome.text}`)
  }

  const end: LeakVault['end'] = async signal => {
    if (server === undefined) throw new Error('not started')
    const exitCode = await server.end(signal)
    const written = server.ready + (await server.stdout)
    return { exitCode, written, logged: await server.stderr }
  }

  await start()
  const { world, addApplication } = worldOf(succeed, shownOnce)
  keys.private = memberOf(await addApplication(backend()), 'key')
  keys.public = memberOf(await addApplication(inBrowser()), 'key')
  return { data, keys, shownOnce, world, ask, succeed, end, start }
}

export interface Described {
  readonly operations: readonly Placed[]
  readonly schemas: Readonly<Record<string, unknown>>
}

/** Returns the operations of the served document, and the schemas that they refer to. */
export async function readDescribed({ ask }: LeakVault): Promise<Described> {
  const request = { fault: 'none', method: 'GET', target: '/swagger/json', headers: {}, body: '' }
  const { answer } = await ask(request)
  if (answer === undefined) throw new Error('no document')
  const document = jsonOf(answer) as unknown as OpenApiDocument & {
    readonly components: { readonly schemas: Described['schemas'] }
  }
  return { operations: operationsOf(document), schemas: document.components.schemas }
}
