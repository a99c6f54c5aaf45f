/**
 * Real browsers: Debian's Chromium and Firefox, driven without a window.
 *
 * `scripts/install-browsers` installs them. Tests fail if one is missing.
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import puppeteer, { type Browser, type Page } from 'puppeteer-core'
import { atEnd } from '../../support/at-end.ts'
import { temporaryFolder } from '../../support/folders.ts'

export type BrowserName = 'chrome' | 'firefox'

export const browserNames: readonly BrowserName[] = ['chrome', 'firefox']

const programs = { chrome: 'chromium', firefox: 'firefox-esr' } as const

/** Storage that a browser grants to frames of other sites. */
export type Storage = 'usual' | 'blocked'

function programOf(name: BrowserName): string {
  const path = Bun.which(programs[name])
  if (path === null) throw new Error(`no ${programs[name]} here: run sh scripts/install-browsers`)
  return path
}

/** No site may store anything: content setting 2 of Chromium. */
function chromeProfile(storage: Storage): string {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'Default'))
  const profile =
    storage === 'blocked'
      ? { default_content_setting_values: { cookies: 2 }, block_third_party_cookies: true }
      : {}
  writeFileSync(join(folder, 'Default', 'Preferences'), JSON.stringify({ profile }))
  return folder
}

/** Longest wait for a start, a page or a call: it catches what hangs, not a busy machine. */
const waitMsMax = 300_000
const patience = { timeout: waitMsMax, protocolTimeout: waitMsMax }

/** Root, as tests run in containers, gets no sandbox. */
const chromeArguments = ['--no-sandbox', '--disable-gpu']

const launch = (name: BrowserName, storage: Storage): Promise<Browser> =>
  name === 'chrome'
    ? puppeteer.launch({
        ...patience,
        browser: name,
        executablePath: programOf(name),
        userDataDir: chromeProfile(storage),
        args: [...chromeArguments],
      })
    : puppeteer.launch({
        ...patience,
        browser: name,
        executablePath: programOf(name),
        extraPrefsFirefox: storage === 'blocked' ? { 'network.cookie.cookieBehavior': 2 } : {},
      })

/**
 * Launches a Chromium that keeps pages which were left, as those of people do and driven ones do
 * not, for a way back. It may keep those that forbid it too, until somebody changes a cookie.
 */
export async function launchKeeping(profile = chromeProfile('usual')): Promise<Browser> {
  const level = 'CacheControlNoStoreEnterBackForwardCache:level/restore-unless-cookie-change'
  const browser = await puppeteer.launch({
    ...patience,
    browser: 'chrome',
    executablePath: programOf('chrome'),
    userDataDir: profile,
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
    args: [...chromeArguments, `--enable-features=BackForwardCache,${level}`],
  })
  atEnd(() => browser.close())
  return browser
}

const pagesMax = 8

const open = new Map<string, Promise<Browser>>()

function launchOnce(name: BrowserName, storage: Storage): Promise<Browser> {
  const key = `${name} ${storage}`
  const known = open.get(key)
  if (known !== undefined) return known
  const launched = launch(name, storage).then(browser => {
    // One that has crashed fails the test that it was used by, and none after it.
    browser.once('disconnected', () => open.delete(key))
    return browser
  })
  open.set(key, launched)
  atEnd(async () => {
    await (await launched).close()
  })
  return launched
}

/** A page in a browser that tests share: nothing of ours is stored in it. */
export async function openPage(name: BrowserName, storage: Storage = 'usual'): Promise<Page> {
  const browser = await launchOnce(name, storage)
  const pages = await browser.pages()
  // These pages belong to tests that have ended: no test opens so many.
  for (const page of pages.slice(0, -pagesMax)) await page.close()
  const page = await browser.newPage()
  page.setDefaultTimeout(waitMsMax)
  return page
}
