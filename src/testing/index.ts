/**
 * A real vault inside a test, on a port of its own, gone with the test:
 *
 *     await using vault = await startVault()
 *     const { id } = await vault.client('public').tokens.create({ type: 'card', data })
 *     vault.clock.advance('3m')
 *
 * In Bun it runs inside the test; in Node.js `child.ts` starts one beside it.
 * @module
 */
import { shownKeys, startTestVault } from '../server/process/test-server.ts'
import { makeMovedTime } from './test-clock.ts'
import { testVaultOf, type StartOptions, type TestVault } from './test-vault.ts'

export type { TestClock } from './test-clock.ts'
export type { KeyKind, StartOptions, TestVault } from './test-vault.ts'

/** @throws CommandFailure when no port is free */
export async function startVault(options: StartOptions = {}): Promise<TestVault> {
  const { settings = {}, log = () => {} } = options
  const time = makeMovedTime(options.startAt)
  const { address, demo, clock, stop } = await startTestVault({ ...time, settings, log })
  return testVaultOf({
    address,
    tenantId: demo.tenantId,
    keys: shownKeys(demo),
    clock: { now: () => new Date(clock.now()), advance: time.advance },
    stop,
  })
}
