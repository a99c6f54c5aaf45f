/**
 * Answers at the addresses of a vault, whatever its state: by one application after another, or,
 * while sealed, by one that refuses.
 * @module
 */
import { makeAuditLog } from '../../audit/audit-log.ts'
import { makeKeys } from '../../crypto/keyring.ts'
import { createKeyring } from '../../crypto/keyring-format.ts'
import type { Deps } from '../../deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { makeEndAnswer } from '../../http/flood-guard.ts'
import { endConnection } from '../../http/keep-alive.ts'
import type { Store } from '../../store/contract.ts'
import { andThen, type MaybeLater } from '../../lib/waiting.ts'
import { buildApp, type App } from './app.ts'
import type { Handler, Handlers } from './handlers.ts'
import { CommandFailure } from '../process/failure.ts'

const sealed = () =>
  new ApiError('unavailable', 'The vault is sealed: its operator runs coffer unseal.')

/** It is never reached: requests are refused before. */
const noStore = new Proxy({} as Store, {
  get() {
    throw sealed()
  },
})

/** Answers every request with 503, at the same addresses as the vault; its keys are random. */
export function makeSealedApp(deps: Omit<Deps, 'store' | 'keys' | 'audit'>): App {
  const keys = makeKeys(createKeyring(deps.randomBytes, deps.now()))
  const audit = makeAuditLog({ ...deps, store: noStore, keys })
  const app = buildApp({ ...deps, store: noStore, keys, audit }, sealed)
  keys.wipe()
  return app
}

/** HTTP/2 ignores this header: the server's stop tells its connections to go. */
export function leave(response: Response): Response {
  endConnection(response)
  return response
}

export interface Front {
  readonly listener: Handlers
  readonly swap: (next: App) => void
  /** From now on, connections end with their next answer: callers connect to another process. */
  readonly leave: () => void
}

/** Path at which this process tells a load balancer if it is ready. */
export interface CheckAddress {
  /** One segment, such as `/healthz`. */
  readonly path: string
  readonly isReady: () => boolean
}

const plain = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }

/** No key is needed, so it says nothing else, and reads nothing of the request. */
function answerCheck({ method }: Request, isReady: () => boolean): Response {
  if (method !== 'GET' && method !== 'HEAD') {
    const headers = { ...plain, allow: 'GET, HEAD' }
    return new Response('expected GET\n', { status: 405, headers })
  }
  return isReady()
    ? new Response('ok\n', { headers: plain })
    : new Response('not ready\n', { status: 503, headers: plain })
}

type Routes = Handlers['routes']

/** @throws CommandFailure if the vault already answers at that path */
function checkRoutes(taken: Routes, { path, isReady }: CheckAddress): Routes {
  if (Object.hasOwn(taken, path)) {
    throw new CommandFailure(`--check-path: the vault answers at ${path} already: choose another`)
  }
  const end = makeEndAnswer()
  const answer: Routes[string] = (request, server) =>
    end(request, answerCheck(request, isReady), server)
  return { [path]: answer, [`${path}/`]: answer }
}

/**
 * @param first all later applications have the same addresses
 * @throws CommandFailure if the check has one of these addresses
 */
export function makeFront(first: App, check?: CheckAddress): Front {
  let current = first.listener
  let isLeaving = false
  const last = (answer: MaybeLater<Response>): MaybeLater<Response> =>
    isLeaving ? andThen(answer, leave) : answer
  const routes = Object.keys(first.listener.routes).map(path => {
    const answer: Handler = (request, server) =>
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
