/**
 * What answers at the addresses of a vault, whatever listens there: one application after another,
 * or, while the vault is sealed, one that refuses.
 * @module
 */
import { makeKeys } from '../../crypto/keyring.ts'
import { createKeyring } from '../../crypto/keyring-format.ts'
import type { Deps } from '../../deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { endBehindChunks, endConnection } from '../../http/keep-alive.ts'
import type { Store } from '../../store/contract.ts'
import { andThen, type MaybeLater } from '../../lib/waiting.ts'
import { buildApp, type App } from './app.ts'
import { CommandFailure } from '../process/failure.ts'

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

/** HTTP/2 takes no such header from here: its connections are told to go when the server stops. */
export function leave(response: Response): Response {
  endConnection(response)
  return response
}

export interface Front {
  readonly listener: App['listener']
  readonly swap: (next: App) => void
  /** Connections end with their next answer from now on: callers come to another process. */
  readonly leave: () => void
}

/** Where this process says whether it may be sent requests, to who shares them out. */
export interface CheckAddress {
  /** One segment, as `/healthz`. */
  readonly path: string
  readonly isReady: () => boolean
}

const plain = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }

/** Without a key, so it says nothing more, and takes nothing of the request. */
function answerCheck({ method }: Request, isReady: () => boolean): Response {
  if (method !== 'GET' && method !== 'HEAD') {
    const headers = { ...plain, allow: 'GET, HEAD' }
    return new Response('expected GET\n', { status: 405, headers })
  }
  return isReady()
    ? new Response('ok\n', { headers: plain })
    : new Response('not ready\n', { status: 503, headers: plain })
}

type Routes = App['listener']['routes']

/** @throws CommandFailure where the vault has something else there */
function checkRoutes(taken: Routes, { path, isReady }: CheckAddress): Routes {
  if (Object.hasOwn(taken, path)) {
    throw new CommandFailure(`--check-path: the vault answers at ${path} already: choose another`)
  }
  const answer: Routes[string] = request => endBehindChunks(request, answerCheck(request, isReady))
  return { [path]: answer, [`${path}/`]: answer }
}

/**
 * @param first all others have the same addresses
 * @throws CommandFailure for a check at one of them
 */
export function makeFront(first: App, check?: CheckAddress): Front {
  let current = first.listener
  let isLeaving = false
  const last = (answer: MaybeLater<Response>): MaybeLater<Response> =>
    isLeaving ? andThen(answer, leave) : answer
  const routes = Object.keys(first.listener.routes).map(path => {
    const answer: App['listener']['fetch'] = (request, server) =>
      last((current.routes[path] ?? current.fetch)(request, server))
    return [path, answer] as const
  })
  const checks = check === undefined ? {} : checkRoutes(first.listener.routes, check)
  return {
    listener: {
      routes: { ...Object.fromEntries(routes), ...checks },
      fetch: (request, server) => last(current.fetch(request, server)),
      error: thrown => current.error(thrown),
    },
    swap(next) {
      current = next.listener
    },
    leave() {
      isLeaving = true
    },
  }
}
