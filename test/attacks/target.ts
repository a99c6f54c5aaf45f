/**
 * A vault to attack: a serving process of its own under the default settings, alone or as several
 * workers. Each request comes over a new connection, so that workers take turns.
 * @module
 */
import { join } from 'node:path'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

interface Asked {
  readonly key?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Told {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Empty if the text is no JSON object. */
  readonly body: Readonly<Record<string, unknown>>
}

export interface Application {
  readonly id: string
  readonly key: string
}

export interface Target {
  readonly data: string
  readonly managementKey: string
  readonly server: () => Running
  readonly ask: (method: string, path: string, asked?: Asked) => Promise<Told>
  readonly application: (body: object) => Promise<Application>
  /** Creates a token and gives its id. */
  readonly create: (key: string, body: object) => Promise<string>
  readonly restart: (signal: NodeJS.Signals) => Promise<void>
  /** @returns all that it has logged, requests too */
  readonly end: () => Promise<string>
}

const contentTypes: Readonly<Record<string, string>> = { PATCH: 'application/merge-patch+json' }

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

async function request(base: string, method: string, path: string, asked: Asked): Promise<Told> {
  const { key, body, headers = {} } = asked
  const response = await fetch(base + path, {
    method,
    proxy: false as never,
    keepalive: false,
    headers: {
      ...(key === undefined ? {} : { 'SVC-API-KEY': key }),
      ...(body === undefined ? {} : { 'Content-Type': contentTypes[method] ?? 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: objectOf(text) }
}

/** @param workers how many processes serve */
export async function openTarget(workers: number): Promise<Target> {
  const data = join(temporaryFolder(), 'vault')
  const made = await runCoffer(['init', '--data', data, '--json'])
  const managementKey = String(objectOf(made.stdout)['key'])
  const alike = ['--workers', String(workers), '--log-requests', 'all']
  const args = ['serve', '--data', data, '--port', '0', ...alike]
  let server = await startCoffer(args)
  let logged = ''
  const baseOf = ({ ready }: Running) => `http://127.0.0.1:${/:(\d+)\s*$/.exec(ready)?.[1]}`
  let base = baseOf(server)

  const ask: Target['ask'] = (method, path, asked = {}) => request(base, method, path, asked)
  const succeed = async (method: string, path: string, asked: Asked): Promise<Told> => {
    const told = await ask(method, path, asked)
    if (told.status >= 300) throw new Error(`${method} ${path}: ${told.status} ${told.text}`)
    return told
  }
  return {
    data,
    managementKey,
    server: () => server,
    ask,
    async application(body) {
      const asked = { key: managementKey, body: { name: 'app', ...body } }
      const { body: shown } = await succeed('POST', '/applications', asked)
      return { id: String(shown['id']), key: String(shown['key']) }
    },
    async create(key, body) {
      return String((await succeed('POST', '/tokens', { key, body })).body['id'])
    },
    async restart(signal) {
      await server.end(signal)
      logged += await server.stderr
      server = await startCoffer(args)
      base = baseOf(server)
    },
    async end() {
      await server.end('SIGKILL')
      return logged + (await server.stderr)
    },
  }
}
