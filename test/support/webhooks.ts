/**
 * A vault whose deliveries a test drives: each tick looks at the log, as a server does each 100 ms.
 * @module
 */
import { makeMayReach } from '../../src/egress/public-address.ts'
import type { Send } from '../../src/egress/send.ts'
import type { Store } from '../../src/store/contract.ts'
import { makeDeliverer, type Deliverer } from '../../src/webhooks/couriers.ts'
import { authority, makeTestSend, receiverAddress } from './receivers.ts'
import { until } from './until.ts'
import { openTestVault, type Answer, type TestVault } from './vault.ts'

export interface HookVault extends TestVault {
  /** Ticks until it is true. */
  readonly deliverUntil: (isSo: () => boolean | Promise<boolean>) => Promise<void>
  readonly tick: () => Promise<void>
  readonly figures: Deliverer['figures']
  /** Writes down how far it is, and begins anew as another process would. */
  readonly restart: () => Promise<void>
  /** Begins anew without writing anything down. */
  readonly crash: () => void
  /** Asks as its manager. */
  readonly manage: (method: string, path: string, body?: unknown) => Promise<Answer>
  /** Makes a webhook. */
  readonly hook: (
    url: string,
    events: readonly string[],
  ) => Promise<{ readonly id: string; readonly secret: string }>
  /** Makes tokens with these ids. */
  readonly makeTokens: (...ids: readonly string[]) => Promise<void>
  /** A key that may do all with tokens. */
  readonly key: string
}

/** @param open opens the store of its folder */
export async function openHookVault(
  seed: number,
  send: Send = makeTestSend(),
  open?: (folder: string) => Promise<Store>,
): Promise<HookVault> {
  const vault = await openTestVault(seed, { egressAllow: [receiverAddress] }, open)
  let deliverer: Deliverer = makeDeliverer(vault.deps, send, () => true)
  const key = await vault.application({
    type: 'private',
    permissions: ['token:create', 'token:read', 'token:update', 'token:delete', 'token:use'],
  })
  const manage: HookVault['manage'] = (method, path, body) =>
    vault.ask(method, path, {
      key: vault.managementKey,
      ...(body === undefined ? {} : { body }),
    })
  const tick = async (): Promise<void> => {
    await vault.deps.audit.flush()
    await deliverer.tick()
  }
  return {
    ...vault,
    key,
    manage,
    tick,
    figures: () => deliverer.figures(),
    deliverUntil: isSo =>
      until(async () => {
        if (await isSo()) return true
        await tick()
        vault.clock.advance(300)
        return isSo()
      }),
    async restart() {
      await deliverer.end()
      deliverer = makeDeliverer(vault.deps, send, () => true)
    },
    crash() {
      deliverer = makeDeliverer(vault.deps, send, () => true)
    },
    async hook(url, events) {
      const { status, body, text } = await manage('POST', '/webhooks', { name: 'a', url, events })
      if (status !== 201) throw new Error(text)
      return { id: String(body['id']), secret: String(body['secret']) }
    },
    async makeTokens(...ids) {
      for (const id of ids) {
        const body = { id, type: 'token', data: 'planted-secret-value' }
        const { status, text } = await vault.ask('POST', '/tokens', { key, body })
        if (status !== 201) throw new Error(text)
      }
    },
  }
}

/** Sends as a vault does whose operator allows nothing. */
export const strictSend = (): Send =>
  makeTestSend({ mayReach: makeMayReach([]), authorities: authority })
