/**
 * The real vault under the model of webhooks: one store for many runs, a tenant of its own for
 * each, a receiver, and deliveries that the run drives.
 * @module
 */
import { makeDeliverer, type Deliverer } from '../../../src/webhooks/couriers.ts'
import type { Deps } from '../../../src/deps.ts'
import type { Store } from '../../../src/store/contract.ts'
import { makeTestSend, receiverAddress } from '../../support/receivers.ts'
import { addTenant } from '../../support/tenants.ts'
import { until } from '../../support/until.ts'
import { openTestVault, reopenTestVault, type Answer, type TestVault } from '../../support/vault.ts'
import { startPlannedReceiver, type PlannedReceiver } from './receiver.ts'
import { emptyModel, type Model } from './state.ts'

const seed = 1

export interface Key {
  readonly key: string
  readonly id: string
  readonly type: string
}

/** Keys of the tenant of a run. */
interface Keys {
  readonly manager: Key
  /** May read webhooks, and do nothing else. */
  readonly reader: Key
  /** May do all with tokens, and sees masks. */
  readonly masking: Key
  /** Sees data. */
  readonly revealing: Key
  /** A manager of another tenant. */
  readonly stranger: Key
}

export interface Server {
  readonly vault: () => TestVault
  readonly receiver: PlannedReceiver
  readonly keys: Keys
  /** Text of the public key of signatures `v1a`. */
  readonly publicKey: string
  readonly send: (
    key: string | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answer>
  /** Looks at the log once, as a server does each 100 ms. */
  readonly tick: () => Promise<void>
  /** Ticks until nothing goes any more but what the receiver holds. */
  readonly quiesce: () => Promise<void>
  /** Ends and opens everything anew. */
  readonly restart: () => Promise<void>
  /** Begins anew without writing anything down. */
  readonly crash: () => Promise<void>
}

/** The deliveries of one process, which may end at any time. */
function startProcess(vault: TestVault, receiver: PlannedReceiver) {
  let isDead = false
  const writes = new Set<Promise<unknown>>()
  const never = new Promise<never>(() => {})
  const write: Store['write'] = (...args) => {
    if (isDead) return never
    const written = Promise.resolve(vault.deps.store.write(...args))
    writes.add(written)
    return written.finally(() => writes.delete(written))
  }
  const deps: Deps = { ...vault.deps, store: { ...vault.deps.store, write } }
  const send = makeTestSend()
  const before = receiver.count()
  let sent = 0
  const deliverer: Deliverer = makeDeliverer(
    deps,
    async outgoing => {
      if (isDead) return never
      sent += 1
      const result = await send(outgoing)
      return isDead ? never : result
    },
    () => true,
  )
  return {
    deliverer,
    /** All that it has sent arrives, and nobody learns of the answer. */
    async kill() {
      isDead = true
      await Promise.allSettled(writes)
      await until(() => receiver.count() - before === sent)
    },
  }
}

async function keyOf(vault: TestVault, key: string): Promise<Key> {
  const { body } = await vault.ask('GET', '/applications/key', { key })
  return { key, id: String(body['id']), type: String(body['type']) }
}

const tokenPermissions = [
  'token:create',
  'token:read',
  'token:update',
  'token:delete',
  'token:search',
]
const reveal = { priority: 1, container: '/', transform: 'reveal', permissions: tokenPermissions }

async function makeKeys(tenant: TestVault, stranger: TestVault): Promise<Keys> {
  const make = async (body: object) => keyOf(tenant, await tenant.application({ ...body }))
  return {
    manager: await keyOf(tenant, tenant.managementKey),
    reader: await make({ type: 'management', permissions: ['webhook:read'] }),
    masking: await make({ type: 'private', permissions: tokenPermissions }),
    revealing: await make({ type: 'private', rules: [reveal] }),
    stranger: await keyOf(stranger, stranger.managementKey),
  }
}

export interface Host {
  /** @returns the server of a new tenant, and a model that knows nothing yet */
  readonly begin: () => Promise<{ readonly model: Model; readonly real: Server }>
  readonly end: () => Promise<void>
}

export async function openHost(): Promise<Host> {
  let vault = await openTestVault(seed, { egressAllow: [receiverAddress] })
  const receiver = await startPlannedReceiver(vault.clock.now)
  let process = startProcess(vault, receiver)
  const stranger = await addTenant(vault)
  const asked = { key: vault.managementKey }
  const { body } = await vault.ask('GET', '/webhooks/public-key', asked)

  const tick = async (): Promise<void> => {
    await vault.deps.audit.flush()
    await process.deliverer.tick()
  }
  const server = (keys: Keys): Server => ({
    vault: () => vault,
    receiver,
    keys,
    publicKey: String(body['key']),
    send: (key, method, path, given, headers = {}) =>
      vault.ask(method, path, {
        headers,
        ...(key === undefined ? {} : { key }),
        ...(given === undefined ? {} : { body: given }),
      }),
    tick,
    async quiesce() {
      let calm = 0
      await until(async () => {
        const before = receiver.count()
        await tick()
        const { underWay } = process.deliverer.figures()
        calm = underWay === receiver.held() && receiver.count() === before ? calm + 1 : 0
        return calm === 1
      })
    },
    async restart() {
      await process.deliverer.end()
      await process.kill()
      receiver.cutAll()
      vault = await reopenTestVault(vault, seed)
      process = startProcess(vault, receiver)
    },
    async crash() {
      await process.kill()
      receiver.cutAll()
      process = startProcess(vault, receiver)
    },
  })
  return {
    async begin() {
      const tenant = await addTenant(vault)
      const model = emptyModel(tenant.tenantId, vault.clock.now())
      const keys = await makeKeys({ ...tenant, ask: vault.ask }, { ...stranger, ask: vault.ask })
      return { model, real: server(keys) }
    },
    async end() {
      await process.deliverer.end()
      await vault.deps.store.close()
      receiver[Symbol.dispose]()
    },
  }
}
