/**
 * Sessions under test: a public application that creates them and a private one that authorizes.
 * @module
 */
import type { Answer, TestVault } from './vault.ts'

export const tokenPermissions = [
  'token:create',
  'token:read',
  'token:update',
  'token:delete',
  'token:search',
  'token:use',
]

interface NewSession {
  readonly key: string
  readonly nonce: string
  readonly expiresAt: string
}

export interface Application {
  readonly id: string
  readonly key: string
}

export interface SessionKit {
  readonly creator: Application
  readonly authorizer: Application
  create(key?: string): Promise<NewSession>
  authorize(nonce: string, body: object, key?: string): Promise<Answer>
  /** Opens a session with these grants and returns its key. */
  open(grants: object): Promise<string>
}

export async function addApplication(vault: TestVault, body: object): Promise<Application> {
  const key = await vault.application({ ...body })
  const shown = await vault.ask('GET', '/applications/key', { key })
  return { id: String(shown.body['id']), key }
}

export async function openSessionKit(vault: TestVault): Promise<SessionKit> {
  const creator = await addApplication(vault, { type: 'public', permissions: ['token:create'] })
  const authorizer = await addApplication(vault, {
    type: 'private',
    rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: tokenPermissions }],
  })
  const create: SessionKit['create'] = async (key = creator.key) => {
    const { status, body, text } = await vault.ask('POST', '/sessions', { key })
    if (status !== 201) throw new Error(`no session: ${text}`)
    return {
      key: String(body['session_key']),
      nonce: String(body['nonce']),
      expiresAt: String(body['expires_at']),
    }
  }
  const authorize: SessionKit['authorize'] = (nonce, body, key = authorizer.key) =>
    vault.ask('POST', '/sessions/authorize', { key, body: { nonce, ...body } })
  return {
    creator,
    authorizer,
    create,
    authorize,
    async open(grants) {
      const { key, nonce } = await create()
      const { status, text } = await authorize(nonce, grants)
      if (status !== 200) throw new Error(`not authorized: ${text}`)
      return key
    },
  }
}
