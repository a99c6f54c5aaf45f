/**
 * One credential of every kind, for the table of access.
 *
 * Rules cover only `/pci/`; conditions of sessions cover it too, or ids from `in-` on.
 * @module
 */
import { addTenant } from '../tenants.ts'
import { openTestVault, type TestVault } from '../vault.ts'
import { openSessionKit, tokenPermissions, type SessionKit } from '../sessions.ts'

export const deadCredentials = [
  'none',
  'unknown',
  'expired',
  'deleted',
  'regenerated',
  'session-expired',
  'session-of-deleted',
] as const

/** The columns of the table, in order. */
export const liveCredentials = [
  'plain',
  'redact',
  'mask',
  'reveal',
  'public',
  'pub-rule',
  'manage',
  'reader',
  's-new',
  's-plain',
  's-cont',
  's-cond',
  's-id',
  'o-priv',
  'o-man',
] as const

type DeadCredential = (typeof deadCredentials)[number]
export type LiveCredential = (typeof liveCredentials)[number]
export type Credential = DeadCredential | LiveCredential

export interface AccessKit {
  readonly vault: TestVault
  readonly sessions: SessionKit
  /** `undefined` for none. */
  readonly keys: Readonly<Record<Credential, string | undefined>>
}

const minuteMs = 60_000

const rule = (transform: string, scope: object = { container: '/pci/' }) => ({
  priority: 1,
  transform,
  permissions: tokenPermissions,
  ...scope,
})

const byRule = (transform: string) => ({ type: 'private', rules: [rule(transform)] })

const within = (attribute: string, value: string) => ({
  conditions: [{ attribute, operator: 'starts_with', value }],
})

const writes = ['token:create', 'token:update']

async function openApplications(vault: TestVault) {
  const publicRule = { ...rule('reveal'), permissions: writes }
  return {
    plain: await vault.application({ type: 'private', permissions: tokenPermissions }),
    redact: await vault.application(byRule('redact')),
    mask: await vault.application(byRule('mask')),
    reveal: await vault.application(byRule('reveal')),
    public: await vault.application({ type: 'public', permissions: writes }),
    'pub-rule': await vault.application({ type: 'public', rules: [publicRule] }),
    manage: vault.managementKey,
    reader: await vault.application({ type: 'management', permissions: ['application:read'] }),
  }
}

async function openSessions(kit: SessionKit) {
  const { key } = await kit.create()
  return {
    's-new': key,
    's-plain': await kit.open({ permissions: tokenPermissions }),
    's-cont': await kit.open({ rules: [rule('reveal')] }),
    's-cond': await kit.open({ rules: [rule('mask', within('container', '/pci/'))] }),
    's-id': await kit.open({ rules: [rule('reveal', within('id', 'in-'))] }),
  }
}

/** Applications of another tenant, with all rights there. */
async function openStrangers(vault: TestVault) {
  const stranger = await addTenant(vault)
  const everywhere = rule('reveal', { container: '/' })
  return {
    'o-priv': await stranger.application({ type: 'private', rules: [everywhere] }),
    'o-man': stranger.managementKey,
  }
}

const all = { type: 'private', rules: [rule('reveal', { container: '/' })] }

async function idOf(vault: TestVault, key: string): Promise<string> {
  return String((await vault.ask('GET', '/applications/key', { key })).body['id'])
}

async function demand(vault: TestVault, method: string, path: string): Promise<void> {
  const { status, text } = await vault.ask(method, path, { key: vault.managementKey })
  if (status >= 300) throw new Error(`${method} ${path}: ${text}`)
}

/** Credentials that had every right while they lived; the clock then passes their end. */
async function openDead(vault: TestVault, kit: SessionKit) {
  const expiresAt = new Date(vault.clock.now() + minuteMs).toISOString()
  const expired = await vault.application({ ...all, expires_at: expiresAt })
  const deleted = await vault.application(all)
  const regenerated = await vault.application(all)
  const creator = await vault.application({ type: 'public', permissions: writes })
  const { key, nonce } = await kit.create(creator)
  await kit.authorize(nonce, all)
  const sessionExpired = await kit.open({ permissions: tokenPermissions })
  await demand(vault, 'DELETE', `/applications/${await idOf(vault, deleted)}`)
  await demand(vault, 'POST', `/applications/${await idOf(vault, regenerated)}/regenerate`)
  await demand(vault, 'DELETE', `/applications/${await idOf(vault, creator)}`)
  vault.clock.advance(3 * minuteMs)
  return {
    none: undefined,
    unknown: 'key_1111111111111111111111',
    expired,
    deleted,
    regenerated,
    'session-expired': sessionExpired,
    'session-of-deleted': key,
  }
}

export async function openAccessKit(): Promise<AccessKit> {
  const vault = await openTestVault(71)
  const sessions = await openSessionKit(vault)
  const dead = await openDead(vault, sessions)
  const keys = {
    ...dead,
    ...(await openApplications(vault)),
    ...(await openSessions(sessions)),
    ...(await openStrangers(vault)),
  }
  return { vault, sessions, keys }
}
