/**
 * An in-process vault to send requests to: the real application over the real store, on a file
 * system in memory if there is one, so that no disk slows it down.
 * @module
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildApp } from '../../src/server/listen/app.ts'
import { makeAuditLog } from '../../src/audit/audit-log.ts'
import type { Deps } from '../../src/deps.ts'
import {
  guessesPerMinuteSettingMax,
  requestsPerSecondSettingMax,
} from '../../src/limits/setting-limits.ts'
import { defaultSettings } from '../../src/settings/settings.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { makeScheduler } from '../../src/lib/work.ts'
import { createVault, openVaultKeys } from '../../src/vault/vault.ts'
import { seededBytes } from '../../test/support/seeded.ts'

export interface FuzzVault {
  readonly handle: (request: Request) => Promise<Response>
  readonly managementKey: string
  /** Every line of the log. */
  readonly logged: string[]
  readonly close: () => Promise<void>
}

const inMemory = '/dev/shm'

/** Fixed, so that a run repeats itself; requests name days after it. */
const startMs = Date.UTC(2030, 0, 1)

export async function openFuzzVault(seed: number): Promise<FuzzVault> {
  const parent = existsSync(inMemory) ? inMemory : tmpdir()
  const folder = mkdtempSync(join(parent, 'coffer-fuzz-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.on('exit', remove)
  const randomBytes = seededBytes(seed)
  const store = await openLmdbStore({ path: folder })
  const masterKey = randomBytes(32)
  let nowMs = startMs
  const now = () => (nowMs += 1)
  const made = await createVault({ store, now, randomBytes }, masterKey)
  const keys = await openVaultKeys(store, masterKey)
  const logged: string[] = []
  const log: Deps['log'] = (event, facts) => logged.push(JSON.stringify({ event, ...facts }))
  const settings = {
    ...defaultSettings,
    requestsPerSecondMax: requestsPerSecondSettingMax,
    searchGuessesPerMinuteMax: guessesPerMinuteSettingMax,
    createGuessesPerMinuteMax: guessesPerMinuteSettingMax,
  }
  const deps: Deps = {
    store,
    keys,
    now,
    settled: now,
    elapsedMs: now,
    turns: makeScheduler(now),
    randomBytes,
    log,
    audit: makeAuditLog({ store, keys, randomBytes, now, log }),
    settings,
  }
  return {
    handle: buildApp(deps).handle,
    managementKey: made.key.reveal(),
    logged,
    async close() {
      await store.close()
      process.off('exit', remove)
      remove()
    },
  }
}
