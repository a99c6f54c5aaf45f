/**
 * Work of clients with applications and sessions.
 * @module
 */
import { clockLeaseMs } from '../../../src/limits/operation-limits.ts'
import { takeAny } from '../draw.ts'
import { isRefusal, parseBody, send, write, type Client } from './client.ts'
import { countAcknowledged, report, takeOp, type Application, type Session } from './ledger.ts'
import { emptyRegister } from './register.ts'
import { createAs } from './work-tokens.ts'

const applicationsMax = 40
const sessionMsDefault = 3 * 60 * 1_000
const authorizedMs = 20_000
/** Longer than any request plus the clock's lead: sessions that expire sooner are left alone. */
export const sessionMarginMs = clockLeaseMs + 2_750

const namePrefix = 'app-'

/** The name of an application contains its operation. */
const nameOf = (op: number): string => `${namePrefix}${op}`

/** `undefined` for an application that the clients did not make. */
export const opOf = (name: string): number | undefined =>
  name.startsWith(namePrefix) ? Number(name.slice(namePrefix.length)) : undefined

const applicationBody = (op: number) => ({
  name: nameOf(op),
  type: 'private',
  permissions: ['token:read'],
})

function releaseApplication({ ledger }: Client, application: Application): void {
  application.isHeld = false
  if (application.register.acknowledged === undefined) ledger.goneApplications.push(application)
  else ledger.freeApplications.push(application)
}

async function createApplication(client: Client): Promise<void> {
  const { ledger, keys } = client
  const op = takeOp(ledger)
  ledger.namelessApplications.add(nameOf(op))
  const question = { key: keys.management, body: applicationBody(op) }
  const request = { method: 'POST', path: '/applications', question, status: 201 }
  const answer = await send(client, request)
  if (isRefusal(answer.status)) ledger.namelessApplications.delete(nameOf(op))
  if (answer.status !== 201) return
  ledger.namelessApplications.delete(nameOf(op))
  countAcknowledged(ledger, 'application create')
  const { id, key } = parseBody<{ id: string; key: string }>(answer)
  const register = { acknowledged: op, pending: [] }
  const rest = { oldKeys: [], isRekeying: false, isHeld: true }
  const application: Application = { id, register, key, ...rest }
  ledger.applications.set(id, application)
  ledger.touchedApplications.add(application)
  releaseApplication(client, application)
}

async function renameApplication(client: Client, application: Application): Promise<void> {
  const { id, register } = application
  const op = takeOp(client.ledger)
  const question = { key: client.keys.management, body: applicationBody(op) }
  const request = { method: 'PUT', path: `/applications/${id}`, question, status: 200 }
  await write(client, { kind: 'application update', register, version: op }, request)
}

/** The old key is dead from the answer on, even without a kill. */
async function regenerateKey(client: Client, application: Application): Promise<void> {
  const { ledger, keys } = client
  const path = `/applications/${application.id}/regenerate`
  application.isRekeying = true
  const question = { key: keys.management }
  const answer = await send(client, { method: 'POST', path, question, status: 200 })
  if (answer.status !== 200 && !isRefusal(answer.status)) return
  application.isRekeying = false
  if (answer.status !== 200) return
  countAcknowledged(ledger, 'regenerate')
  const { key: oldKey } = application
  application.key = parseBody<{ key: string }>(answer).key
  if (oldKey === undefined) return
  application.oldKeys.push(oldKey)
  const check = { method: 'GET', path: '/applications/key', status: 401 }
  await send(client, { ...check, question: { key: oldKey } })
}

async function deleteApplication(client: Client, application: Application): Promise<void> {
  const { id, register } = application
  const question = { key: client.keys.management }
  const request = { method: 'DELETE', path: `/applications/${id}`, question, status: 204 }
  await write(client, { kind: 'application delete', register, version: undefined }, request)
}

export async function useApplication(client: Client): Promise<void> {
  const { ledger, draw } = client
  const { freeApplications } = ledger
  const wantsNew = freeApplications.length < applicationsMax && draw(3) === 0
  const application = wantsNew ? undefined : takeAny(draw, freeApplications)
  if (application === undefined) return createApplication(client)
  application.isHeld = true
  ledger.touchedApplications.add(application)
  const changes = [renameApplication, regenerateKey, regenerateKey, deleteApplication]
  await (changes[draw(changes.length)] ?? renameApplication)(client, application)
  releaseApplication(client, application)
}

/** Body that authorizes a session until an instant. */
export const authorizeBody = ({ nonce }: Session, expiresAtMs: number) => ({
  nonce,
  permissions: ['token:create', 'token:read'],
  expires_at: new Date(expiresAtMs).toISOString(),
})

/** On a busy machine the session may expire before another request is answered. */
const isLate = ({ expiresAtMs }: Session): boolean => expiresAtMs - Date.now() < authorizedMs / 2

/** Uses up the nonce. Until the answer comes, the earlier of the two expiries counts. */
async function authorize(client: Client, session: Session): Promise<void> {
  session.expiresAtMs = Date.now() + authorizedMs
  const { register } = session
  const question = {
    key: client.keys.private,
    body: authorizeBody(session, session.expiresAtMs),
  }
  const request = { method: 'POST', path: '/sessions/authorize', question, status: 200 }
  await write(client, { kind: 'session authorize', register, version: 1 }, request)
  if (register.acknowledged === undefined || isLate(session)) return
  const again = { ...request, status: 409 }
  const answer = await send(client, again)
  if (answer.status === 200) report(client.ledger, 'ghost', 'a nonce that was used twice')
}

/** Some sessions are never authorized. */
export async function useSession(client: Client): Promise<void> {
  const { ledger, keys, draw } = client
  const request = { method: 'POST', path: '/sessions', question: { key: keys.public } }
  const answer = await send(client, { ...request, status: 201 })
  if (answer.status !== 201) return
  countAcknowledged(ledger, 'session create')
  const made = parseBody<{ session_key: string; nonce: string }>(answer)
  const expiresAtMs = Date.now() + sessionMsDefault
  const register = emptyRegister()
  const session: Session = { key: made.session_key, nonce: made.nonce, register, expiresAtMs }
  ledger.sessions.push(session)
  ledger.touchedSessions.add(session)
  if (draw(4) === 0) return
  await authorize(client, session)
  if (register.acknowledged === undefined || isLate(session)) return
  await createAs(client, session.key)
}
