/**
 * The rights of an application, changed and taken away while its keys are used: each answer must
 * agree with the rights of some moment of its request.
 * @module
 */
import { insist, type Client } from '../client.ts'
import { pickWeighted, type OpenWorkload, type World } from '../workload.ts'

const slots = 2
/** Requests to a deleted application before it is replaced. */
const requestsAfterEnd = 8
const shared = 'shared'

interface Application {
  readonly name: string
  readonly id: string
  /** Keys that were answered, by their labels; the last is the newest. */
  readonly keys: { readonly label: string; readonly key: string }[]
  regenerated: number
  isEnding: boolean
  after: number
}

const rule = {
  priority: 1,
  container: '/',
  transform: 'reveal',
  permissions: ['token:create', 'token:read'],
}

/** Grants by their names in `checker/rights.go`. */
const grants: Readonly<Record<string, object>> = {
  create: { permissions: ['token:create'] },
  read: { permissions: ['token:read'] },
  'create-read': { permissions: ['token:create', 'token:read'] },
  reveal: { rules: [{ ...rule, permissions: ['token:read'] }] },
}
const grantNames = Object.keys(grants)

const isShown = (token: object): string => ('data' in token ? 'clear' : 'hidden')

const uses = {
  create: {
    method: 'POST',
    path: '/tokens',
    body: { type: 'token', data: 1 },
    read: () => ({}),
  },
  read: {
    method: 'GET',
    path: `/tokens/${shared}`,
    body: undefined,
    read: (body: object, status: number) => (status === 200 ? { value: isShown(body) } : {}),
  },
  list: {
    method: 'GET',
    path: `/tokens?id=${shared}`,
    body: undefined,
    read: (body: object, status: number) =>
      status === 200
        ? { value: (body as { data: object[] }).data.map(isShown).join() || 'nothing' }
        : {},
  },
} as const

async function newApplication({ keys }: World, client: Client, name: string): Promise<Application> {
  const body = { name, type: 'private', rules: [rule] }
  const made = await insist(client, 201, 'POST', '/applications', { key: keys.management, body })
  const first = { label: 'k0', key: String(made['key']) }
  return {
    name,
    id: String(made['id']),
    keys: [first],
    regenerated: 0,
    isEnding: false,
    after: 0,
  }
}

function use(client: Client, application: Application, name: keyof typeof uses) {
  const { keys } = application
  const at = client.draw(4) === 0 ? client.draw(keys.length) : keys.length - 1
  const { label = '', key = '' } = keys[at] ?? {}
  const { method, path, body, read } = uses[name]
  return client.record({
    part: application.name,
    op: 'use',
    in: { key: label, value: name },
    method,
    path,
    question: { key, ...(body === undefined ? {} : { body }) },
    read,
  })
}

const manage = ({ keys }: World, application: Application) => {
  const { name: part, id } = application
  const path = `/applications/${id}`
  const key = keys.management
  return {
    put(client: Client) {
      const value = grantNames[client.draw(grantNames.length)] ?? 'create'
      const question = { key, body: { name: part, ...grants[value] } }
      return client.record({ part, op: 'put', in: { value }, method: 'PUT', path, question })
    },
    regenerate(client: Client) {
      const label = `k${(application.regenerated += 1)}`
      return client.record({
        part,
        op: 'regenerate',
        method: 'POST',
        path: `${path}/regenerate`,
        question: { key },
        read(body, status) {
          if (status !== 200) return {}
          application.keys.push({ label, key: String(body['key']) })
          return { key: label }
        },
      })
    },
    async delete(client: Client) {
      application.isEnding = true
      await client.record({ part, op: 'delete', method: 'DELETE', path, question: { key } })
    },
  }
}

export const openRights: OpenWorkload = async world => {
  const { setup, keys } = world
  await insist(setup, 201, 'POST', '/tokens', {
    key: keys.private,
    body: { id: shared, type: 'token', data: 1 },
  })
  let count = 0
  const make = (client: Client) => newApplication(world, client, `a${(count += 1)}`)
  const current: Application[] = []
  while (current.length < slots) current.push(await make(setup))
  return {
    async step(client) {
      const at = client.draw(slots)
      const application = current[at]
      if (application === undefined) return
      if (application.isEnding && (application.after += 1) === requestsAfterEnd) {
        current[at] = await make(client)
      }
      const name = pickWeighted(client.draw, [
        [20, 'create'],
        [20, 'read'],
        [20, 'list'],
        [20, 'put'],
        [5, 'regenerate'],
        [1, 'delete'],
      ] as const)
      if (name === 'create' || name === 'read' || name === 'list') {
        return use(client, application, name)
      }
      return manage(world, application)[name](client)
    },
    async finish(client) {
      for (const application of current) {
        for (const name of ['create', 'read', 'list'] as const) await use(client, application, name)
      }
    },
  }
}
