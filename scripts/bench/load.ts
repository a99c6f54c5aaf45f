/**
 * Loads: the requests to a server, the connections, the duration, and the results.
 *
 * Connections are kept alive; each sends its next request once it has the last answer.
 * @module
 */

export interface LoadRequest {
  readonly method: 'GET' | 'POST'
  /** Including the query. */
  readonly path: string
  readonly key: string
  /** JSON. */
  readonly body?: string
}

export interface Load {
  /** `http://127.0.0.1:3333` */
  readonly address: string
  /** Sent in this order, again and again. */
  readonly requests: readonly LoadRequest[]
  readonly connections: number
  /** A whole number. */
  readonly seconds: number
  /** All are to be refused, as with a key that is not known; absent: all are to succeed. */
  readonly isRefused?: boolean
}

export interface LoadResult {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Processor time of the server for one request; absent for a server of others. */
  readonly processorUs?: number
  /** Pages of 4 KiB that the server wrote for one request; absent for a server of others. */
  readonly pages?: number
}

export interface LoadGenerator {
  /** Including its version. */
  readonly name: string
  /** @throws when an answer is not as the load expects, or a connection fails */
  readonly run: (load: Load) => Promise<LoadResult>
}

/** Answers that are not as the load expects, of all that came. */
export const countUnexpected = (
  { isRefused = false }: Pick<Load, 'isRefused'>,
  { all, refused }: { readonly all: number; readonly refused: number },
): Record<string, number> =>
  isRefused
    ? { 'answers that are no refusal': all - refused }
    : { 'answers that are no success': refused }

/** Counted by every generator; any failure makes a measurement worthless. */
export function assertClean(failures: Readonly<Record<string, number>>): void {
  const found = Object.entries(failures).filter(([, count]) => count > 0)
  if (found.length === 0) return
  throw new Error(`the load failed: ${found.map(([what, count]) => `${count} ${what}`).join(', ')}`)
}

const headersOf = ({ key, body }: LoadRequest): Record<string, string> => ({
  'svc-api-key': key,
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
})

/** Sends one request of a load. @throws when the answer is no success */
export async function ask(address: string, request: LoadRequest): Promise<Response> {
  const { method, path, body } = request
  const init = { method, headers: headersOf(request), ...(body === undefined ? {} : { body }) }
  const response = await fetch(address + path, init)
  if (!response.ok) throw new Error(`${method} ${path.split('?')[0]}: status ${response.status}`)
  return response
}

export const askJson = async <T>(address: string, request: LoadRequest): Promise<T> =>
  (await (await ask(address, request)).json()) as T

export const requestHeaders = headersOf
