/**
 * A store that refuses rows sealed under an older keyring.
 *
 * A process seals values under the key that it knows as the current one, and its write holds only
 * if the keyring is unchanged, which the same transaction checks. So no process can write a row
 * under the previous key once a rotation has committed, and a scan that finds no such row proves
 * that there is none. Source: docs/decisions.md, "Keys".
 * @module
 */
import { keyNumberOf } from '../../crypto/seal.ts'
import type { Change, NewRow, Store, WriteOutcome } from '../../store/contract.ts'
import type { LiveKeyring } from './live-keyring.ts'

function rowOf(change: Change): NewRow | undefined {
  if ('insert' in change) return change.insert
  if ('replace' in change) return change.replace
  return 'reseal' in change ? change.reseal : undefined
}

/** Makes the caller read, decide and seal again, as after every write that found a row moved. */
const movedOn: WriteOutcome = { ok: false, at: 0, reason: 'version_moved' }

export const withKeyringFence = <S extends Store>(store: S, keyring: LiveKeyring): S => ({
  ...store,
  async write(changes) {
    const rows = changes.map(rowOf).filter(row => row !== undefined)
    if (rows.length === 0) return store.write(changes)
    // A long request may have sealed some rows before a rotation.
    const current = keyring.keys.installation.currentKeyNumber
    if (rows.some(({ parts: [head] }) => !head || keyNumberOf(head) !== current)) return movedOn
    const outcome = await store.write([...changes, keyring.fence()])
    if (outcome.ok || outcome.at < changes.length) return outcome
    await keyring.refresh()
    return movedOn
  },
})
