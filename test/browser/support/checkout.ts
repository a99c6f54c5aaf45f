/**
 * A page of a shop with the card fields in it, as a person and as the page's own script meet it.
 * @module
 */
import type { ElementHandle, Frame, Page } from 'puppeteer-core'
import type { CardState, CardToken, ElementsErrorCode } from '../../../src/elements/host/index.ts'
import { openPage, type BrowserName, type Storage } from './browsers.ts'
import type { Shop } from './shop.ts'
import type { DevVault } from './vaults.ts'

export interface Facts {
  readonly code: ElementsErrorCode
  readonly message: string
  readonly fields: readonly string[]
  readonly status: number
  readonly name: string
  readonly hasTrace: boolean
}

export type Made = Partial<CardToken> & Partial<Facts>

/** Values that the shop's script (`shop.ts`) has put into its page. */
export interface ShopPage {
  readonly told: (readonly [string, unknown])[]
  readonly mount: (options: object) => Promise<'ready' | Facts>
  readonly tokenize: (request?: object) => Promise<Made>
  readonly card: { focus(): void; clear(): void; destroy(): void }
  readonly paid?: Promise<Made>
}

export interface Checkout {
  readonly page: Page
  /** Outcome of mounting the fields. */
  readonly mounted: 'ready' | Facts
  readonly frame: Frame
  /** Types, from the first field on; Tab goes from one to the next. */
  readonly fill: (number: string, expiry: string, cvc: string) => Promise<void>
  /** Returns the texts that stand in the fields. */
  readonly values: () => Promise<readonly string[]>
  readonly errors: () => Promise<readonly string[]>
  readonly tokenize: (request?: object) => Promise<Made>
  /** Last state that the page was told. */
  readonly state: () => Promise<CardState>
  readonly told: (name: string) => Promise<readonly unknown[]>
}

export interface CheckoutOptions {
  readonly storage?: Storage
  /** Options beside address and key. */
  readonly options?: object
  readonly path?: string
  /** Runs before anything of the page does. */
  readonly before?: (page: Page) => Promise<unknown>
}

export async function openShopPage(name: BrowserName, shop: Shop, options: CheckoutOptions = {}) {
  const page = await openPage(name, options.storage)
  await options.before?.(page)
  await page.goto(shop.origin + (options.path ?? '/'))
  await page.waitForSelector('html[data-begun]')
  return page
}

/** Passes the options as text, since drivers would not pass hostile ones. */
export const mount = (page: Page, options: object): Promise<'ready' | Facts> =>
  page.evaluate(
    given => (globalThis as unknown as ShopPage).mount(JSON.parse(given) as object),
    JSON.stringify(options),
  )

/** The frame of the vault in a page; the first where there are several. */
export function frameOf(page: Page, vault: DevVault): Frame {
  const { origin } = new URL(vault.address)
  const frame = page.frames().find(each => each.url().startsWith(`${origin}/`))
  if (frame === undefined) throw new Error('the page has no frame of the vault')
  return frame
}

async function fieldOf(frame: Frame, name: string): Promise<ElementHandle> {
  const found = await frame.$(`[name=${name}]`)
  if (found === null) throw new Error(`no field ${name}`)
  return found
}

const textsOf = (frame: Frame, selector: string, member: string) =>
  frame.$$eval(
    selector,
    (elements, name) => elements.map(each => (each as unknown as Record<string, string>)[name]),
    member,
  ) as Promise<string[]>

export async function checkoutIn(
  page: Page,
  vault: DevVault,
  options: object = {},
): Promise<Checkout> {
  const { address, publicKey: key } = vault
  const mounted = await mount(page, { address, key, ...options })
  const frame = mounted === 'ready' ? frameOf(page, vault) : page.mainFrame()
  const told = async (name: string) => {
    const all = await page.evaluate(() => (globalThis as unknown as ShopPage).told)
    return all.filter(([each]) => each === name).map(([, value]) => value)
  }
  return {
    page,
    mounted,
    frame,
    async fill(...texts) {
      await (await fieldOf(frame, 'number')).focus()
      for (const [at, text] of texts.entries()) {
        if (at > 0) await page.keyboard.press('Tab')
        await page.keyboard.type(text)
      }
    },
    values: () => textsOf(frame, 'input', 'value'),
    errors: () => textsOf(frame, '.error', 'textContent'),
    tokenize: request =>
      page.evaluate(given => (globalThis as unknown as ShopPage).tokenize(given), request),
    state: async () => (await told('change')).at(-1) as CardState,
    told,
  }
}

export async function openCheckout(
  name: BrowserName,
  shop: Shop,
  vault: DevVault,
  options: CheckoutOptions = {},
): Promise<Checkout> {
  const page = await openShopPage(name, shop, options)
  return checkoutIn(page, vault, options.options)
}
