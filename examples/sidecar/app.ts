/**
 * A shop beside Coffer, which it asks over a Unix socket. It keeps the token id of each card, and
 * shows the last four digits; no card number stays here.
 * @module
 */
import { Database } from 'bun:sqlite'
import { CofferError, createClient } from 'coffer/client'
import { overSocket } from 'coffer/client/socket'

const { PORT = '3000', ORDERS = 'orders.sqlite', VAULT_SOCKET = '', VAULT_KEY = '' } = process.env
const vault = createClient({
  address: 'http://vault',
  key: VAULT_KEY,
  fetch: overSocket(VAULT_SOCKET),
})
const orders = new Database(ORDERS)
orders.run('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, card TEXT NOT NULL)')
const insert = orders.prepare<{ id: number }, [string]>(
  'INSERT INTO orders (card) VALUES (?) RETURNING id',
)
const find = orders.prepare<{ card: string }, [string]>('SELECT card FROM orders WHERE id = ?')

const refusal = (status: number, error: string) => Response.json({ error }, { status })

const server = Bun.serve({
  port: Number(PORT),
  routes: {
    '/orders': {
      async POST(request) {
        const { number } = (await request.json()) as { number: string }
        const token = await vault.tokens.create({ type: 'card', data: { number } })
        return Response.json(insert.get(token.id), { status: 201 })
      },
    },
    '/orders/:id': async ({ params }) => {
      const order = find.get(params.id)
      if (order === null) return refusal(404, 'there is no such order')
      const { data } = await vault.tokens.get<{ number: string }>(order.card)
      return Response.json({ card: data?.number })
    },
  },
  error(thrown) {
    if (!(thrown instanceof CofferError)) return refusal(500, 'the shop failed')
    if (thrown.code === 'invalid_request') return refusal(400, thrown.message)
    // The vault's reason for refusing a key or rule is for the log, not for the shopper.
    console.error(`vault: ${thrown.code}: ${thrown.message}`)
    return refusal(502, 'cards cannot be had now')
  },
})
console.log(`The shop is at ${server.url.origin}`)
