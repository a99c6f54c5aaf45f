/**
 * A store through which nothing lands that was sealed under an older keyring.
 *
 * Values are sealed under the key that a process knows as the current one, and the write that
 * brings them holds only while the keyring stands as it knows it, in the same transaction. So from
 * the commit of a rotation on no row lands under the key before, in whatever process: that is what
 * makes it sure that none is left once none was found.
 * Source: docs/decisions.md, "Keys".
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

/** Its caller reads, decides and seals again, as after every write that found something moved. */
const movedOn: WriteOutcome = { ok: false, at: 0, reason: 'version_moved' }

export const withKeyringFence = <S extends Store>(store: S, ring: LiveKeyring): S => ({
  ...store,
  async write(changes) {
    const rows = changes.map(rowOf).filter(row => row !== undefined)
    if (rows.length === 0) return store.write(changes)
    // A long request may have sealed some of it before.
    const current = ring.keys.installation.currentKeyNumber
    if (rows.some(({ parts: [head] }) => !head || keyNumberOf(head) !== current)) return movedOn
    const outcome = await store.write([...changes, ring.fence()])
    if (outcome.ok || outcome.at < changes.length) return outcome
    await ring.refresh()
    return movedOn
  },
})
