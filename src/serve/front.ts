/**
 * What answers at the addresses of a vault, whoever listens there: one application after another,
 * or, while the vault is sealed, one that refuses.
 * @module
 */
import { makeKeys } from '../crypto/keyring.ts'
import { createKeyring } from '../crypto/keyring-format.ts'
import type { Deps } from '../deps.ts'
import { ApiError } from '../errors.ts'
import type { Store } from '../store/contract.ts'
import { buildApp, type App } from './app.ts'

const sealed = () => new ApiError('unavailable', 'The vault is sealed.')

/** None of it is asked for: requests are refused before that. */
const noStore = new Proxy({} as Store, {
  get() {
    throw sealed()
  },
})

/** Answers every request with 503, at the addresses that the vault has; with keys of nobody. */
export function makeSealedApp(deps: Omit<Deps, 'store' | 'keys'>): App {
  const keys = makeKeys(createKeyring(deps.randomBytes, deps.now()))
  const app = buildApp({ ...deps, store: noStore, keys }, sealed)
  keys.wipe()
  return app
}

export interface Front {
  readonly listener: App['listener']
  readonly swap: (next: App) => void
}

/** @param first all others have the same addresses */
export function makeFront(first: App): Front {
  let current = first.listener
  const routes = Object.keys(first.listener.routes).map(path => {
    const answer: App['listener']['fetch'] = (request, server) =>
      (current.routes[path] ?? current.fetch)(request, server)
    return [path, answer] as const
  })
  return {
    listener: {
      routes: Object.fromEntries(routes),
      fetch: (request, server) => current.fetch(request, server),
      error: thrown => current.error(thrown),
    },
    swap(next) {
      current = next.listener
    },
  }
}
