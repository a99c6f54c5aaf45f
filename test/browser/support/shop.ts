/**
 * A shop: pages with the card fields, on an origin of their own, and what was asked of it.
 * @module
 */
import { resolve } from 'node:path'
import { atEnd } from '../../support/at-end.ts'

const entry = resolve(import.meta.dir, '../../../src/elements/host/index.ts')

const elements = Bun.build({ entrypoints: [entry], target: 'browser', minify: true }).then(
  async ({ outputs: [output] }) => (await output?.text()) ?? '',
)

/** Puts fields into the page, and notes what the page is told. */
const script = `
import { mountCard, ElementsError } from '/elements.js'
const told = (globalThis.told = [])
globalThis.ElementsError = ElementsError
const facts = ({ code, message, fields, status, name, traceId }) =>
  ({ code, message, fields, status, name, hasTrace: traceId !== undefined })
const note = name => value => void told.push([name, value])
globalThis.mount = options => {
  try {
    globalThis.card = mountCard('#card', {
      onChange: note('change'),
      onReady: note('ready'),
      onSubmit: note('submit'),
      onError: error => note('error')(facts(error)),
      ...options,
    })
  } catch (error) {
    return facts(error)
  }
  return card.ready.then(() => 'ready', facts)
}
globalThis.tokenize = request => card.tokenize(request).catch(facts)
document.querySelector('#pay')?.addEventListener('click', async () => {
  globalThis.paid = tokenize()
})
document.documentElement.dataset.begun = ''
`

const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Shop</title>
<link rel="icon" href="data:,">
<script type="module" src="/shop.js"></script></head>
<body><main><h1>Checkout</h1>
<label for="name">Name</label> <input id="name">
<div id="card"></div>
<button id="pay" type="button">Pay</button></main></body></html>`

export interface Shop {
  /** Such as `http://localhost:41234`. */
  readonly origin: string
  /** Every request, with its headers and body as text. */
  readonly asked: readonly string[]
}

export interface ShopOptions {
  /** Headers of the shop's pages. */
  readonly headers?: Readonly<Record<string, string>>
  readonly html?: string
  readonly host?: string
  /** A vault that stands below `/vault` of its origin, as where an application mounts it. */
  readonly mounts?: string
}

const typed = (type: string, text: string, headers = {}) =>
  new Response(text, { headers: { 'content-type': type, ...headers } })

export function openShop(options: ShopOptions = {}): Shop {
  const { headers = {}, html = page, host = 'localhost', mounts } = options
  const asked: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const sent = JSON.stringify([...request.headers])
      asked.push(`${request.method} ${request.url} ${sent} ${await request.text()}`)
      if (pathname.startsWith('/vault/')) return fetch(`${mounts}${pathname.slice(6)}`)
      if (pathname === '/elements.js') return typed('text/javascript', await elements)
      if (pathname === '/shop.js') return typed('text/javascript', script)
      return typed('text/html', html, headers)
    },
  })
  atEnd(() => server.stop(true))
  return { origin: `http://${host}:${server.port}`, asked }
}
