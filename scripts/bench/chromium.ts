/**
 * Chromium without a window: first paints of pages, and the time from a click to what it shows, by
 * the clock of the page itself.
 * @module
 */
import puppeteer, { type Browser, type Page } from 'puppeteer-core'

/** Signs that a screen is drawn whole. */
export interface Shown {
  /** Text of its title. */
  readonly title: string
  /** Selectors, of which each finds something. */
  readonly parts: readonly string[]
}

/** Milliseconds from a click. */
export interface Drawing {
  /** The page sent its first request. */
  readonly askedMs: number
  /** It had the last answer. */
  readonly answeredMs: number
  /** The frame with all of it was drawn. */
  readonly drawnMs: number
}

/** Time after which a screen is given up. */
const giveUpMs = 60_000
const window = { width: 1_200, height: 900 }

/** @returns `undefined` where Chromium is not installed */
export async function openChromium(): Promise<Browser | undefined> {
  const executablePath = Bun.which('chromium')
  if (executablePath === null) return undefined
  // As root, for example in containers, Chromium has no sandbox.
  const args = ['--no-sandbox', '--disable-gpu']
  return puppeteer.launch({ executablePath, args, defaultViewport: window })
}

/**
 * Resolves `drawn` in the task behind the frame in which everything stands: an observer of
 * mutations sees each change of the page once its script has run, and no answer is awaited then.
 */
const watch = `globalThis.watchDrawing = ({ title, parts, giveUpMs }) => {
  performance.clearResourceTimings()
  let clickedMs
  let wasBusy = false
  const isWhole = () => document.querySelector('h1')?.textContent === title
    && parts.every(part => document.querySelector(part) !== null)
  // A screen that asks anew shows the answer before, marked, until the next one is there.
  const isBefore = isWhole()
  globalThis.drawn = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error('not drawn: ' + title)), giveUpMs)
    const tell = () => {
      const drawnMs = performance.now() - clickedMs
      const asked = performance.getEntriesByType('resource')
      resolve({
        askedMs: Math.min(...asked.map(each => each.startTime)) - clickedMs,
        answeredMs: Math.max(...asked.map(each => each.responseEnd)) - clickedMs,
        drawnMs,
      })
    }
    const look = () => {
      const isBusy = document.querySelector('main .loading, main .stale') !== null
      wasBusy ||= isBusy
      if (clickedMs === undefined || isBusy || !isWhole() || (isBefore && !wasBusy)) return
      observer.disconnect()
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = tell
      requestAnimationFrame(() => port2.postMessage(0))
    }
    const observer = new MutationObserver(look)
    const all = { subtree: true, childList: true, attributes: true, characterData: true }
    observer.observe(document.body, all)
    addEventListener('click', ({ timeStamp }) => {
      clickedMs = timeStamp
    }, { capture: true, once: true })
  })
}`

/** A page of the console behind its door. */
export async function openSitting(browser: Browser, address: string, key: string): Promise<Page> {
  const page = await browser.newPage()
  await page.goto(`${address}/console`)
  await page.waitForSelector('#key')
  await page.evaluate(watch)
  await page.type('#key', key)
  await page.keyboard.press('Enter')
  await page.waitForSelector('#lock')
  return page
}

/** Clicks with the mouse on the first element that a selector finds, and waits for a screen. */
export async function clickTo(page: Page, selector: string, shown: Shown): Promise<Drawing> {
  await page.waitForSelector(selector)
  await page.evaluate(`watchDrawing(${JSON.stringify({ ...shown, giveUpMs })})`)
  await page.click(selector)
  return (await page.evaluate('drawn')) as Drawing
}

/** @returns milliseconds from the start of the navigation, in a context without any cache */
export async function firstPaintMs(browser: Browser, url: string): Promise<number> {
  const context = await browser.createBrowserContext()
  try {
    const page = await context.newPage()
    await page.goto(url)
    const painted = await page.evaluate(`new Promise(resolve => {
      const look = entries => {
        const found = entries.getEntriesByName('first-contentful-paint')[0]
        if (found !== undefined) resolve(found.startTime)
      }
      new PerformanceObserver(look).observe({ type: 'paint', buffered: true })
    })`)
    return painted as number
  } finally {
    await context.close()
  }
}
