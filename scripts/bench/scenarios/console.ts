/**
 * The console in Chromium: its first paint, and each screen from the click until it is drawn.
 * @module
 */
import { rmSync } from 'node:fs'
import type { Browser, Page } from 'puppeteer-core'
import { halfPair, rarePair, tenthPair } from '../../seed/contents.ts'
import {
  clickTo,
  firstPaintMs,
  openChromium,
  openSitting,
  type Drawing,
  type Shown,
} from '../chromium.ts'
import { copyDataSet, freshFolder, type DataSet } from '../data-sets.ts'
import { askJson } from '../load.ts'
import { atMost, countText, type Bench, type Outcome, type Scenario } from '../scenario.ts'
import { withCoffer, type Server } from '../servers.ts'

const paintMsMax = 300
const screenMsMax = 100
const ruleCount = 10
/** As many as a table of the console has rows. */
const sessionCount = 20

interface Screen extends Shown {
  readonly name: string
  readonly click: string
}

const link = (place: string): string => `a[href="#/${place}"]`

const tokens: Screen = {
  name: 'tokens',
  click: link('tokens'),
  title: 'Tokens',
  parts: ['tbody tr'],
}
const search: Screen = { ...tokens, name: 'a search', click: 'form.search button' }

const tokenAt = (row: number): Screen => ({
  name: 'a token',
  click: `tbody tr:nth-child(${row}) button`,
  title: 'Token',
  parts: [
    '#value-title',
    '#why-title',
    // The key of a support desk may not read the log: this place asks for one that may.
    '[aria-labelledby=history-title] form',
  ],
})

const managed: readonly Screen[] = [
  {
    name: 'overview',
    click: link('overview'),
    title: 'Overview',
    parts: ['.plot svg', '#server', '#keys'],
  },
  { name: 'log', click: link('log'), title: 'Log', parts: ['tbody tr', '.steps'] },
  {
    name: 'applications',
    click: link('applications'),
    title: 'Applications',
    parts: ['tbody tr'],
  },
  {
    name: 'an application and its rules',
    // The newest is the first.
    click: 'tbody tr:first-child button',
    title: 'Support desk',
    parts: [
      `[aria-labelledby=rules-title] tbody tr:nth-child(${ruleCount})`,
      '[aria-labelledby=keys-title] tbody tr',
    ],
  },
  {
    name: 'sessions',
    click: link('sessions'),
    title: 'Sessions',
    parts: [`tbody tr:nth-child(${sessionCount})`],
  },
  { name: 'webhooks', click: link('webhooks'), title: 'Webhooks', parts: ['section h3'] },
  { name: 'settings', click: link('settings'), title: 'Settings', parts: ['tbody tr'] },
]

const clause = ({ name, value }: typeof halfPair | typeof tenthPair | typeof rarePair): string =>
  `metadata.${name}:${value}`

/** They find half of all, a twentieth, and twenty tokens. */
const queries = [
  clause(halfPair),
  `${clause(halfPair)} AND ${clause(tenthPair)}`,
  clause(rarePair),
] as const

/** Makes what the screens show beside tokens. */
async function furnish({ address }: Server, { keys }: DataSet['facts']): Promise<void> {
  const post = (key: string, path: string, body: object) =>
    askJson(address, { method: 'POST', path, key, body: JSON.stringify(body) })
  const rules = Array.from({ length: ruleCount }, (_, index) => ({
    priority: index + 1,
    container: `/customers/c${index}/`,
    transform: 'mask',
    permissions: ['token:read', 'token:search'],
  }))
  await post(keys.manager, '/applications', { name: 'Support desk', type: 'private', rules })
  const url = 'https://hooks.invalid/coffer'
  await post(keys.manager, '/webhooks', { name: 'Shop', url, events: ['token.created'] })
  for (let made = 0; made < sessionCount; made += 1) await post(keys.create, '/sessions', {})
}

type Drawings = Map<string, Drawing[]>

async function show(page: Page, screen: Screen, drawings: Drawings): Promise<void> {
  const drawing = await clickTo(page, screen.click, screen)
  drawings.set(screen.name, [...(drawings.get(screen.name) ?? []), drawing])
}

async function typeQuery(page: Page, query: string): Promise<void> {
  await page.click('#query', { count: 3 })
  await page.keyboard.press('Backspace')
  await page.type('#query', query)
}

async function showTokens(page: Page, round: number, drawings: Drawings): Promise<void> {
  await show(page, tokenAt(1 + (round % 20)), drawings)
  await show(page, tokens, drawings)
  await typeQuery(page, queries[round % queries.length] ?? '')
  await show(page, search, drawings)
  await typeQuery(page, '')
  await clickTo(page, search.click, search)
}

async function measureScreens(
  browser: Browser,
  { address }: Server,
  { keys }: DataSet['facts'],
  rounds: number,
): Promise<Drawings> {
  const desk = await openSitting(browser, address, keys.mask)
  await desk.waitForSelector('tbody tr')
  const manager = await openSitting(browser, address, keys.manager)
  await manager.waitForSelector('.plot svg')
  const drawings: Drawings = new Map()
  for (let round = 0; round <= rounds; round += 1) {
    // The first round has the browser compile what all later ones run.
    if (round === 1) drawings.clear()
    await desk.bringToFront()
    await showTokens(desk, round, drawings)
    await manager.bringToFront()
    for (const screen of managed.slice(1)) await show(manager, screen, drawings)
    for (const screen of managed.slice(0, 1)) await show(manager, screen, drawings)
  }
  return drawings
}

async function measureWith(browser: Browser, bench: Bench): Promise<Outcome> {
  const { large } = bench.tokens
  const rounds = bench.isQuick ? 3 : 20
  const vault = copyDataSet(await bench.vault(large), freshFolder(bench.folder))
  const paints: number[] = []
  const drawings = await withCoffer(bench, vault.folder, async server => {
    await furnish(server, vault.facts)
    for (let round = 0; round <= rounds; round += 1) {
      const paintMs = await firstPaintMs(browser, `${server.address}/console`)
      if (round > 0) paints.push(paintMs)
    }
    return measureScreens(browser, server, vault.facts, rounds)
  })
  rmSync(vault.folder, { recursive: true })
  return outcomeOf(countText(large), paints, drawings)
}

const told = ({ askedMs, answeredMs, drawnMs }: Drawing): string =>
  `asked after ${askedMs.toFixed(0)}, answered after ${answeredMs.toFixed(0)}, ` +
  `drawn after ${drawnMs.toFixed(0)} ms`

function noteOf(name: string, all: readonly Drawing[]): string {
  const ordered = all.toSorted((a, b) => a.drawnMs - b.drawnMs)
  const [middle, slowest] = [ordered[Math.floor(ordered.length / 2)], ordered.at(-1)]
  if (middle === undefined || slowest === undefined) return `${name}: never drawn`
  return `${name}: the middle one ${told(middle)}; the slowest ${told(slowest)}`
}

function outcomeOf(count: string, paints: readonly number[], drawings: Drawings): Outcome {
  const check = { unit: 'ms', isSteady: false } as const
  const screens = [...drawings]
  return {
    checks: [
      {
        ...check,
        key: 'console.paint',
        what: 'console: first paint with content, nothing cached',
        target: atMost(paintMsMax),
        values: paints,
      },
      ...screens.map(([name, all]) => ({
        ...check,
        key: `console.${name}`,
        what: `console, ${count} tokens: ${name}, from the click until drawn`,
        target: atMost(screenMsMax),
        values: all.map(({ drawnMs }) => drawnMs),
      })),
    ],
    notes: screens.map(([name, all]) => noteOf(name, all)),
  }
}

async function measure(bench: Bench): Promise<Outcome> {
  const browser = await openChromium()
  if (browser === undefined) return { checks: [], skipped: 'Chromium is not installed' }
  try {
    return await measureWith(browser, bench)
  } finally {
    await browser.close()
  }
}

export const consoleScenarios: readonly Scenario[] = [
  { name: 'console', isFullOnly: true, run: measure },
]
