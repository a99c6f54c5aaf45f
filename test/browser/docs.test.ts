/**
 * The code of docs/elements.md, run as it is written but for addresses and keys: its page, under
 * its content security policy, with its settings of the vault and its server.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { temporaryFolder } from '../support/folders.ts'
import { browserNames, openPage } from './support/browsers.ts'
import { frameOf } from './support/checkout.ts'
import { openVault, type DevVault } from './support/vaults.ts'

const root = resolve(import.meta.dir, '../..')
const page = readFileSync(join(root, 'docs/elements.md'), 'utf8')

const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([^\`]*(?:\`[^\`]+)*?)\`\`\``, 'g'))].map(
    ([, block = '']) => block,
  )

const [browserCode = '', serverCode = ''] = blocks('ts')
const [header = ''] = blocks('text')
const [command = ''] = blocks('sh')

/** Packages of this project are found from its root alone. */
async function bundle(code: string): Promise<string> {
  const entry = join(temporaryFolder(), 'page.ts')
  writeFileSync(entry, code)
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: 'browser',
    plugins: [
      {
        name: 'coffer',
        setup: build =>
          void build.onResolve({ filter: /^coffer\// }, ({ path }) => ({
            path: Bun.resolveSync(path, root),
          })),
      },
    ],
  })
  return (await outputs[0]?.text()) ?? ''
}

const html = `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">
<script type="module" src="/page.js"></script>
<div id="card"></div><button id="pay" type="button">Pay</button></html>`

let vault: DevVault
let script: string
let policy: string
const orders: string[] = []
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url)
    if (request.method === 'POST') orders.push(await request.text())
    const isScript = pathname === '/page.js'
    const type = isScript ? 'text/javascript' : 'text/html'
    const headers = { 'content-type': type, 'content-security-policy': policy }
    return new Response(isScript ? script : html, { headers })
  },
})
const shop = `http://localhost:${server.port}`

/** What the page says of other machines, of these. */
const here = (text: string): string =>
  text
    .replaceAll('https://vault.example', new URL(vault.address).origin)
    .replaceAll('https://shop.example', shop)
    .replaceAll('key_public', vault.publicKey)
    .replaceAll('key_private', vault.privateKey)

beforeAll(async () => {
  const [, flag = '', origin = ''] = /(--\S+) (\S+)/.exec(command) ?? []
  vault = await openVault(flag, origin.replace('https://shop.example', shop))
  script = await bundle(here(browserCode))
  policy = here(header.replace('Content-Security-Policy: ', '').trim())
})
afterAll(() => server.stop(true))

/** What the code of the server gives for an id. */
async function reveal(id: string): Promise<unknown> {
  const known = `const id = ${JSON.stringify(id)}`
  const code = `${known}\n${here(serverCode)}\nconsole.log(JSON.stringify(data))`
  const child = Bun.spawn([process.execPath, '-e', code], {
    cwd: root,
    env: { PATH: process.env['PATH'] },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  return JSON.parse(await child.stdout.text())
}

describe.each(browserNames)('in %s', name => {
  test('the page on card fields shows a page and a server that work together', async () => {
    const visit = await openPage(name)
    const printed: string[] = []
    visit.on('console', message => void printed.push(message.text()))
    await visit.goto(shop)
    const element = await visit.waitForSelector('iframe')
    expect(await element?.isVisible()).toBe(true)
    await frameOf(visit, vault).waitForSelector('#number', { visible: true })
    await frameOf(visit, vault).focus('#number')
    const before = orders.length
    for (const text of ['4242424242424242', '1131', '123']) {
      await visit.keyboard.type(text)
      await visit.keyboard.press(text === '123' ? 'Enter' : 'Tab')
    }
    while (orders.length === before || printed.length === 0) await Bun.sleep(50)
    expect(printed).toContain('visa XXXXXXXXXXXX4242')
    const { card } = JSON.parse(orders.at(-1) ?? '') as { card: string }
    expect(await reveal(card)).toEqual({
      number: '4242424242424242',
      expiration_month: 11,
      expiration_year: 2031,
      cvc: '123',
    })
  })
})
