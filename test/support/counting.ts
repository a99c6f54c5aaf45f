/**
 * Measures the work of a request without a stop watch: calls of the store and of the clock, digests
 * made, values opened.
 * @module
 */
import type { KeyScope } from '../../src/crypto/keyring.ts'
import type { Deps } from '../../src/deps.ts'

/** Counts of each kind of work. Sealing a value counts as opening one. */
export interface Work {
  readonly generation: number
  readonly find: number
  readonly page: number
  readonly write: number
  readonly digests: number
  readonly opened: number
  readonly now: number
}

const none: Work = { generation: 0, find: 0, page: 0, write: 0, digests: 0, opened: 0, now: 0 }

export interface Counted {
  readonly deps: Deps
  /** Returns the work since the last call. */
  readonly take: () => Work
}

/** Wraps store, keys and clock to count their use. */
export function countWork(deps: Deps): Counted {
  const { store, keys, now } = deps
  let work = none
  const add = (what: keyof Work): void => {
    work = { ...work, [what]: work[what] + 1 }
  }
  const scopes = new Map<KeyScope, KeyScope>()

  function countScope(scope: KeyScope): KeyScope {
    const known = scopes.get(scope)
    if (known !== undefined) return known
    const counted: KeyScope = {
      ...scope,
      get indexKey() {
        add('digests')
        return scope.indexKey
      },
      recordKey(number) {
        add('opened')
        return scope.recordKey(number)
      },
    }
    scopes.set(scope, counted)
    return counted
  }

  function counting<A extends readonly unknown[], R>(what: keyof Work, call: (...args: A) => R) {
    return (...args: A): R => {
      add(what)
      return call(...args)
    }
  }

  return {
    deps: {
      ...deps,
      now: counting('now', now),
      store: {
        ...store,
        generation: counting('generation', store.generation),
        find: counting('find', store.find),
        glance: counting('find', store.glance),
        page: counting('page', store.page),
        write: counting('write', store.write),
      },
      keys: {
        installation: countScope(keys.installation),
        logKey: keys.logKey,
        auditKey: keys.auditKey,
        auditIndexKey: keys.auditIndexKey,
        eventSeed: keys.eventSeed,
        sumKeys: keys.sumKeys,
        keepsSum: keys.keepsSum,
        tenant: tenantId => countScope(keys.tenant(tenantId)),
        adopt: keys.adopt,
        wipe: keys.wipe,
      },
    },
    take() {
      const taken = work
      work = none
      return taken
    },
  }
}
