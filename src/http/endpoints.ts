/**
 * Every address with what answers there: its operations by method, HEAD, OPTIONS and 405; and what
 * answers everywhere else.
 *
 * Counts what is under way, so that the process can end in order. Source: contract section 2.
 * @module
 */
import { ApiError } from '../errors.ts'
import { urlBytesMax } from '../limits.ts'
import type { Exchange } from './answers.ts'
import { openCrowd, type Origins } from './crowd.ts'
import { leavesMuch } from './intake.ts'
import { assertOneHost } from './message.ts'
import { compilePath, pathOf, type Params } from './paths.ts'
import { traceIdOf } from './admission.ts'
import { answerRoute, type Pipeline } from './pipeline.ts'
import { toApiError } from './problem.ts'
import type { Route } from './route.ts'

/** What answers one method at one address. */
export interface Operation {
  readonly method: Route['method']
  /** With `:name` in the place of parameters, below the base path. */
  readonly path: string
  readonly isReserved?: true | undefined
  /** What goes wrong is thrown. */
  readonly answer: (exchange: Exchange, params: Params) => Response | Promise<Response>
}

/**
 * Answers any request to its address; never throws, never echoes.
 * @param origins the server, where one listens
 * @param sent the parameters as the server has read them, where it did
 */
export type Endpoint = (request: Request, origins?: Origins, sent?: Params) => Promise<Response>

export interface Endpoints {
  /** By address, base path included. */
  readonly at: ReadonlyMap<string, Endpoint>
  /** 404 whatever is asked for. */
  readonly nowhere: Endpoint
  /** Answers 503 from now on; resolves when all that was under way has its answer. */
  readonly drain: () => Promise<void>
}

interface Known {
  readonly operation: Operation
  readonly readParams: (path: string) => Params | undefined
}

/** The operations of one address by method, and the value of `Allow` there. */
interface Address {
  readonly methods: ReadonlyMap<string, Known>
  readonly allow: string
}

export const operationOf = (pipeline: Pipeline, route: Route): Operation => ({
  method: route.method,
  path: route.path,
  isReserved: route.isReserved,
  answer: (exchange, params) => answerRoute(pipeline, route, exchange, params),
})

const methodNames = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** HEAD is GET, of which the server sends no body (RFC 9110 section 9.3.2). */
const readAs = (method: string): string => (method === 'HEAD' ? 'GET' : method)

/**
 * At `/tokens/search` a GET asks for the token of that id: where the address itself has no
 * operation for a method, the ones of patterns that match it have; unless it is reserved.
 */
function addressAt(path: string, known: readonly Known[]): Address {
  const own = known.filter(({ operation }) => operation.path === path)
  const isReserved = own.some(({ operation }) => operation.isReserved)
  const others = isReserved ? [] : known.filter(({ readParams }) => readParams(path) !== undefined)
  const methods = new Map<string, Known>()
  for (const each of [...own, ...others]) {
    const { method } = each.operation
    if (!methods.has(method)) methods.set(method, each)
  }
  const isAllowed = (name: string) => name === 'OPTIONS' || methods.has(readAs(name))
  return { methods, allow: methodNames.filter(isAllowed).join(', ') }
}

const nothingHere = () => new ApiError('not_found', 'There is nothing at this address.')

/** What the server dropped or moved on the way (`a\..\b`) is not what was asked for. */
const isAsSent = (params: Params, sent: Params | undefined): boolean =>
  sent === undefined || Object.keys(params).every(name => params[name] === sent[name])

function answerAt(
  { answers }: Pipeline,
  { methods, allow }: Address,
  exchange: Exchange,
  sent: Params | undefined,
): Response | Promise<Response> {
  const { method, url } = exchange.request
  if (method === 'OPTIONS') return answers.options(exchange, allow)
  const found = methods.get(readAs(method))
  if (found === undefined) {
    const error = new ApiError('method_not_allowed', `expected one of the methods ${allow}`)
    return answers.problem(exchange, error, allow)
  }
  const params = found.readParams(pathOf(url))
  if (params === undefined || !isAsSent(params, sent)) throw nothingHere()
  return found.operation.answer(exchange, params)
}

function assertUrlLength(request: Request): void {
  if (request.url.length <= urlBytesMax) return
  throw new ApiError('uri_too_long', `expected an address of at most ${urlBytesMax} bytes`)
}

/** Counts requests until it is told to end. */
function openTally() {
  let underWay = 0
  let ended: (() => void) | undefined
  return {
    /** @returns whether one more may begin; it then must leave */
    enter(): boolean {
      if (ended !== undefined) return false
      underWay += 1
      return true
    },
    leave(): void {
      underWay -= 1
      if (underWay === 0) ended?.()
    },
    end: () =>
      new Promise<void>(resolve => {
        ended = resolve
        if (underWay === 0) resolve()
      }),
  }
}

const stopping = () => new ApiError('unavailable', 'The service is stopping.')

/**
 * Ends the connection of who is not admitted and does not wait (hardening H126), and of who still
 * sends much that nobody will read.
 */
function openFinish() {
  const isCrowded = openCrowd()
  return (exchange: Exchange, response: Response, origins: Origins | undefined): Response => {
    const { request, isAdmitted, isBodyRead } = exchange
    const endsCrowded = !isAdmitted && isCrowded(request, origins)
    if (endsCrowded || (!isBodyRead && leavesMuch(request))) {
      response.headers.set('connection', 'close')
    }
    return response
  }
}

type Answer = (exchange: Exchange, sent?: Params) => Response | Promise<Response>

/** @param basePath before every address: `` or `/vault` */
export function openEndpoints(
  pipeline: Pipeline,
  basePath: string,
  operations: readonly Operation[],
): Endpoints {
  const { answers } = pipeline
  const tally = openTally()
  const finish = openFinish()

  const endpoint =
    (answer: Answer): Endpoint =>
    async (request, origins, sent) => {
      const traceId = traceIdOf(pipeline, request)
      const exchange = { request, traceId, isAdmitted: false, isBodyRead: false }
      if (!tally.enter()) return finish(exchange, answers.problem(exchange, stopping()), origins)
      try {
        assertUrlLength(request)
        assertOneHost(request)
        return finish(exchange, await answer(exchange, sent), origins)
      } catch (thrown) {
        return finish(exchange, answers.problem(exchange, toApiError(thrown)), origins)
      } finally {
        tally.leave()
      }
    }

  const known = operations.map(operation => {
    const path = basePath + operation.path
    return { operation: { ...operation, path }, readParams: compilePath(path) }
  })
  const paths = new Set(known.map(({ operation }) => operation.path))
  const at = new Map(
    [...paths].map(path => {
      const address = addressAt(path, known)
      return [path, endpoint((exchange, sent) => answerAt(pipeline, address, exchange, sent))]
    }),
  )
  const nowhere = endpoint(() => Promise.reject(nothingHere()))
  return { at, nowhere, drain: tally.end }
}
