/**
 * A shop that takes cards and never has one: it keeps token ids, and reveals a card only to charge
 * it, on its server. Beside a vault (`npm start` prints address and keys):
 *
 *     VAULT=http://127.0.0.1:3333 PUBLIC_KEY=… PRIVATE_KEY=… npx bun examples/checkout/shop.ts
 * @module
 */
import { join } from 'node:path'
import { CofferError, createClient } from 'coffer/client'
import { charge, type Card } from './processor.ts'

const { VAULT: address = '', PUBLIC_KEY: key = '', PRIVATE_KEY = '', PORT = '3000' } = process.env
const vault = createClient({ address, key: PRIVATE_KEY })
const amount = 19_99

/** Everything that the shop keeps: nothing of it is a card. */
const orders: { readonly card: string; readonly receipt: string }[] = []

const file = (name: string): string => join(import.meta.dir, name)
const { outputs } = await Bun.build({ entrypoints: [file('page.js')], target: 'browser' })
const script = await outputs[0]?.text()

/** The page may run the shop's own script and hold the frame of the vault, and nothing else. */
const { origin } = new URL(address)
const own = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:"
const policy = `${own}; connect-src 'self' ${origin}; frame-src ${origin}`

async function pay(request: Request): Promise<Response> {
  const { card } = (await request.json()) as { readonly card?: unknown }
  if (typeof card !== 'string') return Response.json({ error: 'no card' }, { status: 400 })
  try {
    const { type, data } = await vault.tokens.get<Card>(card)
    if (type !== 'card' || data === undefined) throw new Error('this token is no card')
    orders.push({ card, receipt: charge(data, amount) })
  } catch (error) {
    const status = error instanceof CofferError && error.code === 'not_found' ? 404 : 502
    return Response.json({ error: 'the card was not charged' }, { status })
  }
  return Response.json(orders.at(-1))
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: Number(PORT),
  routes: {
    '/': () =>
      new Response(Bun.file(file('page.html')), {
        headers: { 'content-type': 'text/html', 'content-security-policy': policy },
      }),
    '/page.js': () => new Response(script, { headers: { 'content-type': 'text/javascript' } }),
    '/page.css': () => new Response(Bun.file(file('page.css'))),
    '/settings': () => Response.json({ address, key }),
    '/orders': { GET: () => Response.json(orders), POST: pay },
  },
})
// Another origin than that of the vault: a page of the same one could read the fields.
console.log(`The shop is at http://localhost:${server.port}`)
