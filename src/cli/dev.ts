/**
 * `coffer dev`: a throw-away vault to try things on, gone when it ends.
 *
 * Its master key is never written, so what a killed process leaves behind opens for nobody; the
 * next one sweeps it. It ends with the program that started it.
 * @module
 */
import { rmSync } from 'node:fs'
import { composeApplication } from '../applications/service.ts'
import type { CreateApplicationBody } from '../applications/schema.ts'
import type { Deps } from '../deps.ts'
import { mayHold, tokenPermissions } from '../rules/permissions.ts'
import { clockStartHoldMs } from '../limits.ts'
import type { Secret } from '../secret.ts'
import type { Settings } from '../settings.ts'
import { openLmdbStore } from '../store/lmdb/open.ts'
import { makeTurns } from '../waiting.ts'
import { createVault, openVaultKeys } from '../vault.ts'
import { noMark, makeClock, type Clock } from '../serve/clock.ts'
import { makeThrowAway, parentEnd, sweepThrownAway } from './throw-away.ts'
import { loadConfig, type ConfigOptions } from './options.ts'
import { startLogging, type Logging } from '../serve/logging.ts'
import { startServer, untilSignalled } from '../serve/server.ts'
import { elapsedMs, randomBytes, say, wallMs } from '../serve/system.ts'

export interface DevOptions extends ConfigOptions {
  readonly json?: boolean
}

interface DemoKeys {
  readonly tenantId: string
  readonly management: Secret
  readonly private: Secret
  readonly public: Secret
}

const privateApplication: CreateApplicationBody = {
  name: 'Demo backend',
  type: 'private',
  permissions: [...tokenPermissions],
  rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: [...tokenPermissions] }],
}

const publicApplication: CreateApplicationBody = {
  name: 'Demo browser',
  type: 'public',
  permissions: tokenPermissions.filter(permission => mayHold('public', permission)),
}

async function addApplication(
  deps: Deps,
  tenantId: string,
  body: CreateApplicationBody,
): Promise<Secret> {
  const { key, row } = composeApplication(deps, tenantId, undefined, body)
  await deps.store.write([{ insert: row }])
  return key
}

async function makeDemoVault(
  folder: string,
  settings: Settings,
  { now, settled }: Clock,
  { log, observe }: Logging,
): Promise<{ deps: Deps; demo: DemoKeys }> {
  const masterKey = randomBytes(32)
  const store = await openLmdbStore({ path: folder })
  const { tenantId, key } = await createVault({ store, now, randomBytes }, masterKey)
  const keys = await openVaultKeys(store, masterKey)
  masterKey.fill(0)
  const turns = makeTurns(elapsedMs)
  const deps: Deps = {
    store,
    keys,
    now,
    settled,
    randomBytes,
    elapsedMs,
    turns,
    log,
    settings,
    ...(observe === undefined ? {} : { observe }),
  }
  const demo: DemoKeys = {
    tenantId,
    management: key,
    private: await addApplication(deps, tenantId, privateApplication),
    public: await addApplication(deps, tenantId, publicApplication),
  }
  return { deps, demo }
}

function printJson(baseUrl: string, demo: DemoKeys): void {
  const facts = {
    base_url: baseUrl,
    tenant_id: demo.tenantId,
    management_key: demo.management.reveal(),
    private_key: demo.private.reveal(),
    public_key: demo.public.reveal(),
  }
  say(JSON.stringify(facts))
}

function printGuide(baseUrl: string, demo: DemoKeys): void {
  say(`A throw-away vault on ${baseUrl}; Ctrl-C ends it and nothing stays.

  tenant          ${demo.tenantId}
  management key  ${demo.management.reveal()}
  private key     ${demo.private.reveal()}   (may read in the clear)
  public key      ${demo.public.reveal()}   (may only create and update)

Store a card with the public key, then read it with the private one:

  curl -s ${baseUrl}/tokens -H 'SVC-API-KEY: ${demo.public.reveal()}' \\
    -H 'Content-Type: application/json' \\
    -d '{"id": "my-card", "type": "card", "data": {"number": "4242424242424242"}}'; echo
  curl -s ${baseUrl}/tokens/my-card -H 'SVC-API-KEY: ${demo.private.reveal()}'; echo

The interface is documented at ${baseUrl}/swagger`)
}

/** Listens on loopback alone: its keys are printed. */
export async function dev({ json, ...options }: DevOptions): Promise<void> {
  const { address, logs, settings } = loadConfig(options)
  const logging = startLogging(logs)
  const port = 'port' in address ? address.port : 0
  sweepThrownAway()
  const folder = makeThrowAway()
  try {
    const clock = makeClock({
      wall: wallMs,
      elapsedMs,
      mark: noMark,
      startHoldMs: clockStartHoldMs,
      log: logging.log,
    })
    const { deps, demo } = await makeDemoVault(folder, settings, clock, logging)
    const stopped = Promise.race([untilSignalled(['SIGTERM', 'SIGINT', 'SIGHUP']), parentEnd()])
    const server = await startServer(deps, { host: '127.0.0.1', port })
    const baseUrl = server.address + settings.basePath
    if (json === true) printJson(baseUrl, demo)
    else printGuide(baseUrl, demo)
    await stopped
    await server.stop()
    await logging.end()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
