/**
 * A receiver of webhooks for `main.ts`, in a process of its own: it counts messages, and tells how
 * long after their entry they came. Arguments: files of a certificate and its key, and an address.
 * @module
 */
import { readFileSync } from 'node:fs'

const [cert = '', key = '', hostname = ''] = process.argv.slice(2)
const delays: number[] = []

const server = Bun.serve({
  port: 0,
  hostname,
  tls: { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') },
  async fetch(request) {
    if (request.method === 'GET') {
      const sorted = delays.toSorted((a, b) => a - b)
      return Response.json({ count: delays.length, p50Ms: sorted[delays.length >> 1] ?? 0 })
    }
    const { timestamp } = (await request.json()) as { timestamp: string }
    delays.push(Date.now() - Date.parse(timestamp))
    return new Response(null, { status: 204 })
  },
})
console.info(server.port)
