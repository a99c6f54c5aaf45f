/**
 * Callers are kept by the size of their rules, of which a session may have a megabyte.
 */
import { expect, test } from 'bun:test'
import {
  applicationAuthenticator,
  findLiveApplication,
} from '../../src/applications/find-key-caller.ts'
import { sessionAuthenticator } from '../../src/sessions/find-session-caller.ts'
import { openSessionKit } from '../support/sessions.ts'
import { openTestVault } from '../support/vault.ts'

const rules = Array.from({ length: 100 }, (_, at) => ({
  priority: at + 1,
  conditions: [{ attribute: 'id', operator: 'equals', value: `${at}`.padEnd(400, '-') }],
  transform: 'mask',
  permissions: ['token:read'],
}))

// proves E10.30
test('a session and an application tell the size of their rules', async () => {
  const vault = await openTestVault(734)
  const kit = await openSessionKit(vault)
  const { deps } = vault
  const findApplication = findLiveApplication.bind(undefined, deps)
  const session = await sessionAuthenticator({ ...deps, findApplication })(
    await kit.open({ rules }),
    deps.now(),
  )
  expect(session?.bytes).toBeGreaterThan(JSON.stringify(rules).length)
  const application = await applicationAuthenticator(deps)(kit.authorizer.key, deps.now())
  expect(application?.bytes).toBeGreaterThan(0)
  expect(application?.bytes).toBeLessThan(session?.bytes ?? 0)
})
