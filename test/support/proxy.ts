/**
 * A proxy between a program and a vault, which acts when a request passes.
 * @module
 */

export interface Proxy {
  readonly address: string
  readonly stop: () => Promise<void>
}

/** @param onRequest awaited before the request is forwarded; if it never resolves, it holds it */
export function startProxy(
  target: string,
  onRequest: (method: string, path: string) => Promise<void>,
): Proxy {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      await onRequest(request.method, pathname)
      const { method, headers } = request
      const body = method === 'GET' ? undefined : await request.text()
      return fetch(target + pathname + search, { method, headers, ...(body && { body }) })
    },
  })
  return { address: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}
