/**
 * The code of docs/elements.md, run as it is written but for addresses and keys: its page, under
 * its content security policy, with its settings of the vault and its server.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Page } from 'puppeteer-core'
import { temporaryFolder } from '../support/folders.ts'
import { browserNames, openPage, type BrowserName } from './support/browsers.ts'
import { frameOf } from './support/checkout.ts'
import { openVault, type DevVault } from './support/vaults.ts'

const root = resolve(import.meta.dir, '../..')
const page = readFileSync(join(root, 'docs/elements.md'), 'utf8')

const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([^\`]*(?:\`[^\`]+)*?)\`\`\``, 'g'))].map(
    ([, block = '']) => block,
  )

const [browserCode = '', serverCode = '', looksCode = ''] = blocks('ts')
const [reactCode = ''] = blocks('tsx')
const [shopPage = '', elementCode = ''] = blocks('html')
const [header = ''] = blocks('text')
const [, command = ''] = blocks('sh')

/** Packages of this project are found from its root alone. */
async function bundle(code: string): Promise<string> {
  const entry = join(temporaryFolder(), 'page.tsx')
  writeFileSync(entry, code)
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: 'browser',
    plugins: [
      {
        name: 'coffer',
        setup: build =>
          void build.onResolve({ filter: /^(?:coffer|react|react-dom)(?:\/|$)/ }, ({ path }) => ({
            path: Bun.resolveSync(path, root),
          })),
      },
    ],
  })
  return (await outputs[0]?.text()) ?? ''
}

const html = shopPage.replace('./page.ts', '/page.js')

interface Example {
  readonly html: string
  readonly script: string
}

const link = (name: string): string => `<script type="module" src="/${name}.js"></script>`
const scriptElement = /<script type="module">([^]*?)<\/script>/

/** The other examples, each as a page of its own. */
const examples: Readonly<Record<string, Example>> = {
  looks: { html: `${link('looks')}<div id="card"></div>`, script: looksCode },
  react: {
    html: `${link('react')}<div id="root"></div>`,
    script: `${reactCode}
import { createRoot } from 'react-dom/client'
createRoot(document.querySelector('#root')).render(<Checkout />)`,
  },
  element: {
    html: elementCode.replace(scriptElement, link('element')),
    script: scriptElement.exec(elementCode)?.[1] ?? '',
  },
}

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
    const isScript = pathname.endsWith('.js')
    const type = isScript ? 'text/javascript' : 'text/html'
    const headers = { 'content-type': type, 'content-security-policy': policy }
    const example = examples[pathname.replace('.js', '').slice(1)]
    if (example === undefined) return new Response(isScript ? script : html, { headers })
    const text = isScript ? await bundle(here(example.script)) : here(example.html)
    return new Response(isScript ? text : `<!doctype html>${text}`, { headers })
  },
})
const shop = `http://localhost:${server.port}`

/** Replaces the other machines that the page names by the ones of this test. */
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

/** Returns the data that the server's code gets for an id. */
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

/** A page of the name, with its fields. */
async function visitExample(name: BrowserName, example: string): Promise<Page> {
  const visit = await openPage(name)
  await visit.goto(`${shop}/${example}`)
  const { origin } = new URL(vault.address)
  const frame = await visit.waitForFrame(each => each.url().startsWith(origin))
  await frame.waitForSelector('[name=number]', { visible: true })
  await visit.waitForSelector('iframe', { visible: true })
  return visit
}

async function fill(visit: Page): Promise<void> {
  await frameOf(visit, vault).focus('[name=number]')
  for (const text of ['4242424242424242', '1131', '123']) {
    await visit.keyboard.type(text)
    await visit.keyboard.press('Tab')
  }
}

describe.each(browserNames)('in %s', name => {
  test('the example of looks has them, in its language', async () => {
    const visit = await visitExample(name, 'looks')
    const frame = frameOf(visit, vault)
    expect(await frame.title()).toBe('Kartendaten')
    expect(await frame.$$('input')).toHaveLength(4)
    const radius = await frame.$eval('input', input => {
      const { getComputedStyle } = globalThis as unknown as {
        getComputedStyle(element: unknown): { readonly borderTopLeftRadius: string }
      }
      return getComputedStyle(input).borderTopLeftRadius
    })
    expect(radius).toBe('10px')
  })

  test.each(['react', 'element'])('the example of %s makes a token', async example => {
    const visit = await visitExample(name, example)
    await fill(visit)
    await visit.click('button')
    const outcome = '[role=status]'
    await visit.waitForFunction(`document.querySelector('${outcome}').textContent !== ''`)
    const id = await visit.$eval(outcome, each => each.textContent)
    expect(await vault.backend.tokens.get(id ?? '')).toMatchObject({ type: 'card' })
  })

  test('the page on card fields shows a page and a server that work together', async () => {
    const visit = await openPage(name)
    const printed: string[] = []
    visit.on('console', message => void printed.push(message.text()))
    await visit.goto(shop)
    await visit.waitForSelector('iframe', { visible: true })
    await frameOf(visit, vault).waitForSelector('[name=number]', { visible: true })
    await frameOf(visit, vault).focus('[name=number]')
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
