/**
 * A store that reads the keyring again before it returns a row under a data key that this process
 * does not know.
 *
 * Unsealing cannot wait. Over an engine that answers at once it reads the keyring itself; over one
 * that has to be waited for, the keyring is read here. Source: docs/decisions.md, "Keys".
 * @module
 */
import { keyNumberOf } from '../../crypto/seal.ts'
import type { Row, Store } from '../../store/contract.ts'
import { isKeyringRow, type LiveKeyring } from './live-keyring.ts'

const isKnown = (keyring: LiveKeyring, row: Row): boolean => {
  const [head] = row.parts
  if (head === undefined || isKeyringRow(row)) return true
  const number = keyNumberOf(head)
  return keyring.current().dataKeys.some(entry => entry.number === number)
}

export function withKeyringRefresh<S extends Store>(store: S, keyring: LiveKeyring): S {
  async function known<T>(value: T, rows: readonly Row[]): Promise<T> {
    if (!rows.every(row => isKnown(keyring, row))) await keyring.refresh()
    return value
  }
  return {
    ...store,
    async find(unique) {
      const row = await store.find(unique)
      return known(row, row === undefined ? [] : [row])
    },
    async glance(unique, parts) {
      const row = await store.glance(unique, parts)
      return known(row, row === undefined ? [] : [row])
    },
    async page(query, window) {
      const page = await store.page(query, window)
      return known(page, page.rows)
    },
    async rowsFrom(ordinal, limit) {
      const rows = await store.rowsFrom(ordinal, limit)
      return known(rows, rows)
    },
    async due(nowMs, limit) {
      const rows = await store.due(nowMs, limit)
      return known(rows, rows)
    },
  }
}
