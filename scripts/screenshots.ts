/**
 * `bun run screenshots`: pictures for the documentation, in `docs/img`: of the card fields in
 * `examples/checkout`, of the interface page and of the console, from a vault run from source, in
 * Chromium (`scripts/install-browsers`).
 * @module
 */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import puppeteer, { type Browser, type Page } from 'puppeteer-core'

const root = resolve(import.meta.dir, '..')
const folder = join(root, 'docs', 'img')

interface Picture {
  readonly name: string
  readonly scheme: 'light' | 'dark'
  readonly width: number
  /** Texts to type, field by field. */
  readonly typed: readonly string[]
  readonly isPaid?: boolean
}

const whole = ['4242424242424242', '1131', '123', 'Ada Lovelace']
const wrong = ['4242424242424241', '1331', '12']

const pictures: readonly Picture[] = [
  { name: 'light', scheme: 'light', width: 480, typed: [] },
  { name: 'dark', scheme: 'dark', width: 480, typed: whole },
  { name: 'narrow', scheme: 'light', width: 320, typed: whole },
  { name: 'error', scheme: 'light', width: 480, typed: wrong, isPaid: true },
  { name: 'done', scheme: 'light', width: 480, typed: whole, isPaid: true },
]

/** @returns the first line that a program prints */
async function start(args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
  })
  const { value } = await child.stdout.getReader().read()
  if (value === undefined) throw new Error(`${args[0]} printed nothing`)
  return { child, line: new TextDecoder().decode(value).split('\n')[0] ?? '' }
}

async function pay(page: Page): Promise<void> {
  await page.click('#pay')
  await page.waitForFunction(`document.querySelector('#outcome').textContent !== ''`)
}

async function fill(page: Page, typed: readonly string[]): Promise<void> {
  const frame = page.frames().find(each => each.url().endsWith('/elements/card'))
  await frame?.focus('[name=number]')
  for (const text of typed) {
    await page.keyboard.type(text)
    await page.keyboard.press('Tab')
  }
}

/** Time after which the frame's height and all transitions have settled. */
const settledMs = 1_500

async function take(browser: Browser, address: string, picture: Picture): Promise<void> {
  const { name, scheme, width, typed, isPaid = false } = picture
  const page = await browser.newPage()
  await page.setViewport({ width, height: 640, deviceScaleFactor: 2 })
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
  await page.goto(address)
  await page.waitForSelector('#pay:not([disabled])')
  if (typed.length > 0) await fill(page, typed)
  if (isPaid) await pay(page)
  await Bun.sleep(settledMs)
  const box = await (await page.$('main'))?.boundingBox()
  const clip = { x: 0, y: 0, width, height: Math.ceil(box?.height ?? 640) }
  const path = join(folder, `card-fields-${name}.png`) as `${string}.png`
  // A window enlarged for a picture has not drawn its frames yet.
  await page.screenshot({ path, clip, captureBeyondViewport: false })
  await page.close()
  console.log(`docs/img/card-fields-${name}.png`)
}

const looks = [
  { name: 'light', scheme: 'light', width: 1000 },
  { name: 'dark', scheme: 'dark', width: 1000 },
  { name: 'narrow', scheme: 'dark', width: 375 },
] as const

async function takeInterface(browser: Browser, address: string): Promise<void> {
  for (const { name, scheme, width } of looks) {
    const page = await browser.newPage()
    await page.setViewport({ width, height: 720 })
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
    await page.goto(`${address}/swagger`)
    await page.waitForSelector('.opblock')
    await Bun.sleep(settledMs)
    await page.screenshot({ path: join(folder, `interface-${name}.png`) as `${string}.png` })
    await page.close()
    console.log(`docs/img/interface-${name}.png`)
  }
}

interface Walk {
  readonly name: string
  readonly key: 'desk' | 'manager'
  /** Texts of buttons and links to press, one after the other. */
  readonly presses: readonly string[]
}

const walks: readonly Walk[] = [
  { name: 'overview', key: 'manager', presses: [] },
  { name: 'settings', key: 'manager', presses: ['Settings'] },
  { name: 'tokens', key: 'desk', presses: [] },
  { name: 'token', key: 'desk', presses: ['order-17'] },
  { name: 'log', key: 'manager', presses: ['Log'] },
  { name: 'rules', key: 'manager', presses: ['Applications', 'Support desk', 'Change rules'] },
]

async function pressText(page: Page, text: string): Promise<void> {
  const found = `[...document.querySelectorAll('button, a')].find(each =>
    each.innerText.trim() === ${JSON.stringify(text)})`
  await page.waitForFunction(`${found} !== undefined`)
  await page.evaluate(`${found}.click()`)
}

/** Makes what the console is to show. @returns the key of each walk */
async function fillVault(made: Readonly<Record<string, string>>) {
  const post = async (path: string, key: string, body: object) => {
    const headers = { 'SVC-API-KEY': key, 'Content-Type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await (await fetch(`${made['base_url']}${path}`, init)).json()) as { key?: string }
  }
  const [manager, backend] = [made['management_key'] ?? '', made['private_key'] ?? '']
  for (const name of ['ada', 'grace', 'edsger', 'barbara']) {
    await post('/tokens', backend, { type: 'email', data: `${name}@example.com` })
  }
  const data = { number: '4242424242424242', expiration_month: 10, expiration_year: 2030 }
  const metadata = { order: '17' }
  await post('/tokens', backend, { id: 'order-17', type: 'card', data, metadata })
  const permissions = ['token:read', 'token:search']
  const rule = { priority: 1, container: '/', transform: 'mask', permissions }
  const desk = { name: 'Support desk', type: 'private', rules: [rule] }
  return { manager, desk: (await post('/applications', manager, desk)).key ?? '' }
}

async function takeConsole(browser: Browser, made: Readonly<Record<string, string>>) {
  const keys = await fillVault(made)
  const all = walks.flatMap(walk => looks.map(look => ({ walk, look })))
  for (const { walk, look } of all) {
    const page = await browser.newPage()
    await page.setViewport({ width: look.width, height: 720 })
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: look.scheme }])
    await page.goto(`${made['base_url']}/console`)
    await page.waitForSelector('#key')
    await page.type('#key', keys[walk.key])
    await page.keyboard.press('Enter')
    for (const text of walk.presses) await pressText(page, text)
    await page.waitForFunction(`document.querySelector('.loading') === null`)
    await Bun.sleep(settledMs)
    const name = `console-${walk.name}-${look.name}.png`
    await page.screenshot({ path: join(folder, name) as `${string}.png` })
    await page.close()
    console.log(`docs/img/${name}`)
  }
}

const executablePath = Bun.which('chromium')
if (executablePath === null) throw new Error('no chromium here: run sh scripts/install-browsers')
mkdirSync(folder, { recursive: true })
const vault = await start(['src/main.ts', 'dev', '--port', '0', '--json'], {})
const made = JSON.parse(vault.line) as Readonly<Record<string, string>>
const shop = await start(['examples/checkout/shop.ts'], {
  VAULT: made['base_url'] ?? '',
  PUBLIC_KEY: made['public_key'] ?? '',
  PRIVATE_KEY: made['private_key'] ?? '',
  PORT: '0',
})
// As root, for example in containers, Chromium has no sandbox.
const browser = await puppeteer.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
try {
  await takeInterface(browser, made['base_url'] ?? '')
  await takeConsole(browser, made)
  for (const each of pictures) await take(browser, shop.line.split(' ').at(-1) ?? '', each)
} finally {
  await browser.close()
  for (const { child } of [shop, vault]) child.kill()
}
