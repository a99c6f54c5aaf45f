/**
 * The component of React, in both of the versions that it is for.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { browserNames, openPage, type BrowserName } from './support/browsers.ts'
import { frameOf } from './support/checkout.ts'
import { openBundledPage } from './support/frameworks.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
beforeAll(async () => {
  vault = await openVault()
})

/** A checkout as one is written, in strict mode, where effects run twice. */
const code = `
import { createElement, StrictMode, useRef, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { CardFields, ElementsError } from 'coffer/elements/react'
globalThis.told = []
const tell = name => value => void told.push([name, value?.code ?? value])
function Checkout() {
  const card = useRef(null)
  const [props, setProps] = useState({ onReady: tell('ready'), ...globalThis.first })
  Object.assign(globalThis, { setProps, card, isElementsError: e => e instanceof ElementsError })
  return createElement(CardFields, {
    ref: card,
    className: 'card',
    onError: tell('error'),
    onChange: tell('change'),
    onSubmit: tell('submit'),
    ...props,
  })
}
globalThis.start = first => {
  globalThis.first = first
  globalThis.root = createRoot(document.querySelector('#root'))
  root.render(createElement(StrictMode, null, createElement(Checkout)))
}`

interface ReactPage {
  readonly told: (readonly [string, unknown])[]
  start(props: object): void
  setProps(props: object): void
  isElementsError(error: unknown): boolean
  readonly root: { unmount(): void }
  readonly card: { readonly current: { tokenize(): Promise<{ readonly id: string }> } }
}

const told = (page: Page) => page.evaluate(() => (globalThis as unknown as ReactPage).told)

async function untilTold(page: Page, name: string): Promise<void> {
  while (!(await told(page)).some(([each]) => each === name)) await Bun.sleep(50)
}

async function start(name: BrowserName, address: string, props = {}): Promise<Page> {
  const page = await openPage(name)
  await page.goto(address)
  await page.waitForFunction('globalThis.start !== undefined')
  const given = { address: vault.address, apiKey: vault.publicKey, ...props }
  await page.evaluate(first => (globalThis as unknown as ReactPage).start(first), given)
  return page
}

async function fill(page: Page): Promise<void> {
  await frameOf(page, vault).focus('[name=number]')
  for (const text of ['4242424242424242', '1131', '123']) {
    await page.keyboard.type(text)
    await page.keyboard.press('Tab')
  }
}

const setProps = (page: Page, props: object) =>
  page.evaluate(given => (globalThis as unknown as ReactPage).setProps(given), props)

const codeOfTokenize = (page: Page) =>
  page.evaluate(async () => {
    const { card, isElementsError } = globalThis as unknown as ReactPage
    try {
      return (await card.current.tokenize()).id
    } catch (error) {
      return isElementsError(error) ? (error as { code: string }).code : 'another error'
    }
  })

const values = (page: Page) =>
  frameOf(page, vault).$$eval('input', all =>
    all.map(each => (each as unknown as { value: string }).value),
  )

const reactTests = (name: BrowserName, version: string) => {
  let address: string
  beforeAll(async () => {
    address = await openBundledPage(code, version)
  })

  // proves F16
  test('a card becomes a token, once mounted twice by strict mode', async () => {
    const page = await start(name, address)
    await untilTold(page, 'ready')
    expect(await page.$$('iframe')).toHaveLength(1)
    expect(await page.$('div.card > iframe')).not.toBeNull()
    expect(await codeOfTokenize(page)).toBe('invalid_card')
    await fill(page)
    const id = await codeOfTokenize(page)
    expect(await vault.backend.tokens.get(id)).toMatchObject({ type: 'card' })
    const names = new Set((await told(page)).map(([each]) => each))
    expect(names).toEqual(new Set(['ready', 'change']))
  })

  test('new looks keep what was typed, and another language begins anew', async () => {
    const page = await start(name, address)
    await untilTold(page, 'ready')
    await fill(page)
    const { address: vaultAddress, publicKey: apiKey } = vault
    const styles = { input: { color: 'rgb(1, 2, 3)' } }
    const props = { address: vaultAddress, apiKey, styles, colorScheme: 'dark' }
    await setProps(page, props)
    const root = () => frameOf(page, vault).$eval('html', html => html.getAttribute('data-scheme'))
    while ((await root()) !== 'dark') await Bun.sleep(50)
    expect(await values(page)).toEqual(['4242 4242 4242 4242', '11 / 31', '123'])
    await setProps(page, { ...props, locale: 'de', cardholderName: true })
    await page.waitForFunction(`document.querySelector('iframe')?.title === 'Kartendaten'`)
    expect(await page.$$('iframe')).toHaveLength(1)
    expect(await values(page)).toEqual(['', '', '', ''])
  })

  test('wrong props are told, and a component that is gone leaves nothing', async () => {
    const page = await start(name, address, { address: 'vault.example' })
    await untilTold(page, 'error')
    expect((await told(page)).at(-1)).toEqual(['error', 'invalid_options'])
    expect(await codeOfTokenize(page)).toBe('destroyed')
    await page.evaluate(() => (globalThis as unknown as ReactPage).root.unmount())
    expect(await page.$$('iframe')).toHaveLength(0)
  })
}

describe.each(['18', '19'])('React %s', version => {
  describe.each(browserNames)('in %s', name => reactTests(name, version))
})

test.each(['react', 'element'])('a server may import %s, and render it', async what => {
  const render =
    what === 'react'
      ? `import { createElement } from 'react'
      import { renderToString } from 'react-dom/server'
      import { CardFields } from 'coffer/elements/react'
      console.log(renderToString(createElement(CardFields, { className: 'card' })))`
      : `await import('coffer/elements/element'); console.log('there')`
  const child = Bun.spawn([process.execPath, '-e', render], { stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  const expected = what === 'react' ? '<div class="card"></div>\n' : 'there\n'
  expect([stdout, stderr]).toEqual([expected, ''])
})
