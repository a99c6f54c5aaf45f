/**
 * An in-process vault whose look-ups are called without HTTP. Nothing sweeps it, so that expired
 * rows stay in the store.
 * @module
 */
import { buildApp } from '../../src/server/listen/app.ts'
import {
  applicationAuthenticator,
  findLiveApplication,
} from '../../src/applications/find-key-caller.ts'
import { makeAuditLog } from '../../src/audit/audit-log.ts'
import type { Deps } from '../../src/deps.ts'
import { sessionAuthenticator } from '../../src/sessions/find-session-caller.ts'
import { defaultSettings } from '../../src/settings/settings.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { loadToken } from '../../src/tokens/read/load.ts'
import { makeScheduler } from '../../src/lib/work.ts'
import { createVault, openVaultKeys } from '../../src/vault/vault.ts'
import type { Random } from '../seed/random.ts'
import type { Comparison } from './measure.ts'
import { kindsOf, makeRefusals, type Ask, type World } from './refusals.ts'

const askOf = ({ handle }: ReturnType<typeof buildApp>): Ask => {
  return async (method, path, key, body) => {
    const headers = { 'svc-api-key': key, 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await handle(new Request(`http://vault${path}`, { method, headers, ...sent }))
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
  }
}

async function makeDeps(folder: string, random: Random) {
  const store = await openLmdbStore({ path: folder })
  const clock = { offsetMs: 0 }
  const now = () => Date.now() + clock.offsetMs
  const impure = { store, now, randomBytes: random.bytes }
  const masterKey = random.bytes(32)
  const made = await createVault(impure, masterKey)
  const keys = await openVaultKeys(store, masterKey)
  const log = () => {}
  const deps: Deps = {
    ...impure,
    keys,
    audit: makeAuditLog({ ...impure, keys, log }),
    settled: now,
    elapsedMs: () => performance.now(),
    turns: makeScheduler(() => performance.now()),
    log,
    settings: { ...defaultSettings, lookupGuessesPerMinuteMax: 0 },
  }
  return { deps, clock, managementKey: made.key.reveal() }
}

/** @param folder for the store; empty */
export async function compareLookUps(folder: string, random: Random): Promise<Comparison> {
  const { deps, clock, managementKey } = await makeDeps(folder, random)
  const letPass = async (ms: number): Promise<void> => {
    clock.offsetMs += ms
  }
  const world: World = { ask: askOf(buildApp(deps)), managementKey, random, letPass }
  const refusals = await makeRefusals(world, deps.now())
  const findApplication = applicationAuthenticator(deps)
  const findSession = sessionAuthenticator({
    ...deps,
    findApplication: (...which) => findLiveApplication(deps, ...which),
  })
  const reader = (await findApplication(refusals.readerKey, deps.now()))?.value
  if (reader === undefined) throw new Error('the reader is no caller')
  const load = async (id: string) => {
    try {
      return await loadToken(deps, reader, 'token:read', id)
    } catch {
      return undefined
    }
  }
  return {
    groups: [
      {
        title: 'Look-up of an application key',
        kinds: kindsOf(refusals.applicationKeys, async key => findApplication(key, deps.now())),
      },
      {
        title: 'Look-up of a session key',
        kinds: kindsOf(refusals.sessionKeys, async key => findSession(key, deps.now())),
      },
      { title: 'Look-up of a token', kinds: kindsOf(refusals.tokenIds, load) },
    ],
    close: () => deps.store.close(),
  }
}
