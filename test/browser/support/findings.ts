/**
 * Faults that axe finds for people who do not see a page, or not all of its colours.
 * @module
 */
import { expect } from 'bun:test'
import axe from 'axe-core'
import type { Page } from 'puppeteer-core'

interface Violation {
  readonly id: string
  readonly impact: 'minor' | 'moderate' | 'serious' | 'critical'
  readonly nodes: readonly { readonly target: object }[]
}

interface Axe {
  configure(options: object): void
  run(options: object): Promise<{
    readonly violations: readonly Violation[]
    readonly passes: readonly { readonly nodes: readonly { readonly target: object }[] }[]
  }>
}

/** @param seen selector of an element that axe must have looked at */
async function violationsIn(page: Page, seen: string): Promise<readonly Violation[]> {
  for (const frame of page.frames()) {
    await frame.evaluate(axe.source)
    await frame.evaluate(() => {
      const { axe } = globalThis as unknown as { axe: Axe }
      axe.configure({ allowedOrigins: ['<unsafe_all_origins>'] })
    })
  }
  const { violations, targets } = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: Axe }
    const { violations, passes } = await axe.run({ pingWaitTime: 30_000 })
    const targets = JSON.stringify(passes.flatMap(({ nodes }) => nodes.map(each => each.target)))
    return { violations, targets }
  })
  expect(targets).toContain(seen)
  return violations
}

/** Returns the names of the axe rules that a page with card fields, or the fields, break. */
export const findingsIn = async (page: Page): Promise<readonly string[]> =>
  (await violationsIn(page, '#cvc')).map(({ id }) => id)

/** Returns the serious faults that axe finds in a page, with the first place of each. */
export const seriousIn = async (page: Page, seen: string): Promise<readonly string[]> =>
  (await violationsIn(page, seen))
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${JSON.stringify(nodes[0]?.target)}`)
