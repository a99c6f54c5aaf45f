/**
 * Loads: what is asked of a server, by how many connections, for how long, and what came of it.
 *
 * Connections are kept alive; each sends its next request once it has the answer to the last one.
 * @module
 */

export interface LoadRequest {
  readonly method: 'GET' | 'POST'
  /** With its query. */
  readonly path: string
  readonly key: string
  /** JSON. */
  readonly body?: string
}

export interface Load {
  /** `http://127.0.0.1:3333` */
  readonly address: string
  /** Sent in this order, again from the first after the last. */
  readonly requests: readonly LoadRequest[]
  readonly connections: number
  /** Whole ones. */
  readonly seconds: number
}

export interface LoadResult {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Of the server, for one request; absent where it is another's. */
  readonly processorUs?: number
  /** Of 4 KiB that the server wrote for one request; absent as well. */
  readonly pages?: number
}

export interface LoadGenerator {
  /** With its version. */
  readonly name: string
  /** @throws when an answer is no success, or a connection fails */
  readonly run: (load: Load) => Promise<LoadResult>
}

/** Counted by every generator; anything but zero makes a measurement worthless. */
export function assertClean(failures: Readonly<Record<string, number>>): void {
  const found = Object.entries(failures).filter(([, count]) => count > 0)
  if (found.length === 0) return
  throw new Error(`the load failed: ${found.map(([what, count]) => `${count} ${what}`).join(', ')}`)
}

const headersOf = ({ key, body }: LoadRequest): Record<string, string> => ({
  'svc-api-key': key,
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
})

/** One request of a load, by itself. @throws when the answer is no success */
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
