/**
 * Checks applications, keys, sessions and kept replies against what was promised.
 * @module
 */
import { parseBody, send, type Client } from './client.ts'
import { report, type Application, type Session } from './ledger.ts'
import { judge, settle, type Version } from './register.ts'
import { authorizeBody, opOf, sessionMarginMs } from './work-credentials.ts'

const absentToken = '/tokens/there-is-none'

interface ShownApplication {
  readonly id: string
  readonly name: string
}

interface Applications {
  readonly pagination: { readonly total_pages: number }
  readonly data: readonly ShownApplication[]
}

async function statusOfKey({ connection }: Client, key: string): Promise<number> {
  return (await connection.ask('GET', '/applications/key', { key })).status
}

/** An acknowledged key works; a replaced key, or the key of a deleted application, does not. */
async function checkKeys(client: Client, application: Application, stands: boolean): Promise<void> {
  const { ledger } = client
  const { id, key, oldKeys } = application
  for (const oldKey of oldKeys) {
    ledger.checked += 1
    if ((await statusOfKey(client, oldKey)) === 401) continue
    report(ledger, 'ghost', `an old key of application ${id} lives`)
  }
  if (key === undefined) return
  const status = await statusOfKey(client, key)
  ledger.checked += 1
  if (status === (stands ? 200 : 401)) return
  // An unanswered regeneration may have happened: nobody knows the new key.
  if (stands && application.isRekeying && status === 401) application.key = undefined
  else report(ledger, stands ? 'lost' : 'ghost', `the key of application ${id}: ${status}`)
}

export async function checkApplication(client: Client, application: Application): Promise<void> {
  const { ledger, keys, connection } = client
  const { id, register } = application
  const answer = await connection.ask('GET', `/applications/${id}`, { key: keys.management })
  const name = answer.status === 200 ? parseBody<ShownApplication>(answer).name : undefined
  const observed: Version = name === undefined ? undefined : opOf(name)
  ledger.checked += 1
  const verdict = judge(register, observed)
  if (verdict !== undefined) report(ledger, verdict, `application ${id} is called ${name}`)
  settle(register, observed)
  await checkKeys(client, application, observed !== undefined)
  application.isRekeying = false
  if (!application.isHeld) return
  application.isHeld = false
  const stands = observed !== undefined
  ;(stands ? ledger.freeApplications : ledger.goneApplications).push(application)
}

/** Every existing application is listed, and no application that was never begun. */
export async function checkApplications(client: Client): Promise<void> {
  const { ledger, keys, connection } = client
  const { management: key } = keys
  const standing = new Set(ledger.freeApplications.map(({ id }) => id))
  const listed: ShownApplication[] = []
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const path = `/applications?size=100&page=${page}`
    const { pagination, data } = parseBody<Applications>(await connection.ask('GET', path, { key }))
    listed.push(...data)
    pages = pagination.total_pages
  }
  for (const { id, name } of listed) {
    ledger.checked += 1
    if (standing.delete(id) || opOf(name) === undefined) continue
    if (!ledger.namelessApplications.delete(name)) {
      report(ledger, 'ghost', `application ${id} is listed, and should not stand`)
    }
    const request = { method: 'DELETE', path: `/applications/${id}`, question: { key } }
    await send(client, { ...request, status: 204 })
  }
  ledger.namelessApplications.clear()
  for (const id of standing) report(ledger, 'lost', `application ${id} is in no list`)
}

/** Key and nonce must agree: session authorized and nonce used, or neither. */
async function observeSession(client: Client, session: Session): Promise<Version | 'mixed'> {
  const { keys, connection } = client
  const { status } = await connection.ask('GET', absentToken, { key: session.key })
  const body = authorizeBody(session, session.expiresAtMs)
  const question = { key: keys.private, body }
  const replayed = await connection.ask('POST', '/sessions/authorize', question)
  if (status === 404 && replayed.status === 409) return 1
  if (status === 403 && replayed.status === 200) return undefined
  return 'mixed'
}

async function checkOver(client: Client, session: Session): Promise<void> {
  const { ledger, connection } = client
  const { status } = await connection.ask('GET', absentToken, { key: session.key })
  ledger.checked += 1
  if (status !== 401) report(ledger, 'ghost', `a session that is over: ${status}`)
}

/** A session about to expire is skipped; an expired one must be dead. */
export async function checkSession(client: Client, session: Session): Promise<void> {
  const { ledger } = client
  const { register, expiresAtMs } = session
  const leftMs = expiresAtMs - Date.now()
  // A session with an unanswered write may still have its earlier expiry.
  if (leftMs < 0 && register.pending.length === 0) return checkOver(client, session)
  if (leftMs < sessionMarginMs) return
  const observed = await observeSession(client, session)
  ledger.checked += 1
  if (observed === 'mixed') return report(ledger, 'half-applied', 'a session and its nonce')
  const verdict = judge(register, observed)
  if (verdict !== undefined) report(ledger, verdict, `a session: ${register.acknowledged}`)
  // If the session was not authorized before, this check has authorized it.
  settle(register, 1)
}
