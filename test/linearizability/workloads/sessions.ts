/**
 * Sessions that are authorized, used and ended: after an end was answered no use succeeds, and
 * before it none fails.
 * @module
 */
import { clockLeaseMs } from '../../../src/limits/operation-limits.ts'
import { insist, type Client } from '../client.ts'
import { pickWeighted, type OpenWorkload, type World } from '../workload.ts'

const slots = 3
/** Requests to a session before its end may come. */
const requestsBeforeEnd = 10
/** Requests to an ended session before it is replaced. */
const requestsAfterEnd = 10
const shared = 'shared'
const expiryMs = 300
/** Slack between the two clocks of this process, and for the rounding of the wall clock. */
const expirySlackMs = 20
const nsPerMs = 1e6

const ends = [
  'delete-creator',
  'regenerate-creator',
  'delete-authorizer',
  'regenerate-authorizer',
  'narrow-authorizer',
  'delete-session',
  'expire',
] as const
type End = (typeof ends)[number]

interface Application {
  readonly id: string
  readonly key: string
}

/** A session with applications of its own. */
interface Family {
  readonly name: string
  readonly creator: Application
  readonly authorizer: Application
  /** Id of the session, which not every vault tells. */
  readonly id: string | undefined
  readonly key: string
  readonly nonce: string
  readonly end: End
  readonly expiresAtMs: number | undefined
  requests: number
  /** True once a client ends it, which tries again if no answer came. */
  isEnding: boolean
  after: number
}

async function newApplication({ keys }: World, client: Client, body: object): Promise<Application> {
  const question = { key: keys.management, body: { name: 'family', ...body } }
  const made = await insist(client, 201, 'POST', '/applications', question)
  return { id: String(made['id']), key: String(made['key']) }
}

/**
 * Expiry is nobody's request: it happens at its instant, give or take the slack. A vault that was
 * killed goes on from a mark that its clock wrote ahead, so each kill may bring it forward
 * (`src/server/process/clock.ts`).
 */
function recordExpiry({ history, kills }: World, part: string, expiresAtMs: number): void {
  const instant = Bun.nanoseconds() + (expiresAtMs - Date.now()) * nsPerMs
  const earlyMs = expirySlackMs + kills * clockLeaseMs
  const call = Math.max(0, Math.round(instant - earlyMs * nsPerMs))
  const back = Math.round(instant + expirySlackMs * nsPerMs)
  const asked = { client: -1, part, op: 'end', in: { value: 'expire' } }
  history.push({ ...asked, call, return: back, out: { status: 200 } })
}

async function newFamily(world: World, client: Client, name: string): Promise<Family> {
  const { draw } = world
  const creator = await newApplication(world, client, {
    type: 'public',
    permissions: ['token:create'],
  })
  const permissions = ['token:create', 'token:read']
  const authorizer = await newApplication(world, client, { type: 'private', permissions })
  const made = await insist(client, 201, 'POST', '/sessions', { key: creator.key })
  const id = made['id'] === undefined ? undefined : String(made['id'])
  const possible = ends.filter(end => end !== 'delete-session' || id !== undefined)
  const end = possible[draw(possible.length)] ?? 'expire'
  const expiresAtMs = end === 'expire' ? Date.now() + expiryMs : undefined
  if (expiresAtMs !== undefined) recordExpiry(world, name, expiresAtMs)
  return {
    name,
    creator,
    authorizer,
    id,
    key: String(made['session_key']),
    nonce: String(made['nonce']),
    end,
    expiresAtMs,
    requests: 0,
    isEnding: false,
    after: 0,
  }
}

const use = (client: Client, { name, key }: Family) =>
  client.record({
    part: name,
    op: 'use',
    method: 'GET',
    path: `/tokens/${shared}`,
    question: { key },
  })

function authorize(client: Client, { name, authorizer, nonce, expiresAtMs }: Family) {
  const expiry =
    expiresAtMs === undefined ? {} : { expires_at: new Date(expiresAtMs).toISOString() }
  return client.record({
    part: name,
    op: 'authorize',
    in: expiresAtMs !== undefined && Date.now() < expiresAtMs ? { value: 'early' } : {},
    method: 'POST',
    path: '/sessions/authorize',
    question: {
      key: authorizer.key,
      body: { nonce, permissions: ['token:read'], ...expiry },
    },
  })
}

/** The request of each end but expiry. */
function requestOf({ creator, authorizer, id }: Family, end: Exclude<End, 'expire'>) {
  const deletion = (path: string) => ({ method: 'DELETE', path, body: undefined })
  const regeneration = (path: string) => ({
    method: 'POST',
    path: `${path}/regenerate`,
    body: undefined,
  })
  const [creatorPath, authorizerPath] = [creator, authorizer].map(of => `/applications/${of.id}`)
  const requests = {
    'delete-creator': deletion(`${creatorPath}`),
    'regenerate-creator': regeneration(`${creatorPath}`),
    'delete-authorizer': deletion(`${authorizerPath}`),
    'regenerate-authorizer': regeneration(`${authorizerPath}`),
    'narrow-authorizer': {
      method: 'PUT',
      path: `${authorizerPath}`,
      body: { name: 'family', permissions: ['token:create'] },
    },
    'delete-session': deletion(`/sessions/${id}`),
  }
  return requests[end]
}

async function finishFamily({ keys }: World, client: Client, family: Family): Promise<void> {
  const { name, end } = family
  family.isEnding = true
  if (end === 'expire') return
  const { method, path, body } = requestOf(family, end)
  const question = { key: keys.management, ...(body === undefined ? {} : { body }) }
  const send = () =>
    client.record({ part: name, op: 'end', in: { value: end }, method, path, question })
  if ((await send()) === undefined) await send()
}

export const openSessions: OpenWorkload = async world => {
  const { setup, keys } = world
  await insist(setup, 201, 'POST', '/tokens', {
    key: keys.private,
    body: { id: shared, type: 'token', data: 1 },
  })
  let count = 0
  const make = (client: Client) => newFamily(world, client, `s${(count += 1)}`)
  const current: Family[] = []
  while (current.length < slots) current.push(await make(setup))
  const isOver = ({ isEnding, expiresAtMs = 0 }: Family) =>
    isEnding && Date.now() > expiresAtMs + expirySlackMs
  return {
    async step(client) {
      const at = client.draw(slots)
      const family = current[at]
      if (family === undefined) return
      family.requests += 1
      if (isOver(family) && (family.after += 1) === requestsAfterEnd)
        current[at] = await make(client)
      const mayEnd = !family.isEnding && family.requests > requestsBeforeEnd
      const name = pickWeighted(client.draw, [
        [6, 'use'],
        [2, 'authorize'],
        [mayEnd ? 2 : 0, 'end'],
      ] as const)
      if (name === 'use') return use(client, family)
      return name === 'end' ? finishFamily(world, client, family) : authorize(client, family)
    },
    async finish(client) {
      for (const family of current) {
        if (!family.isEnding) await finishFamily(world, client, family)
        while (!isOver(family)) await Bun.sleep(expirySlackMs)
        await use(client, family)
        await authorize(client, family)
      }
    },
  }
}
