/**
 * What axe finds wrong for people who do not see a page, or not all of its colours.
 * @module
 */
import { expect } from 'bun:test'
import axe from 'axe-core'
import type { Page } from 'puppeteer-core'

interface Axe {
  configure(options: object): void
  run(options: object): Promise<{
    readonly violations: readonly { readonly id: string }[]
    readonly passes: readonly { readonly nodes: readonly { readonly target: object }[] }[]
  }>
}

/** What axe finds in the page with all of its frames, by the names of its rules. */
export async function findingsIn(page: Page): Promise<readonly string[]> {
  for (const frame of page.frames()) {
    await frame.evaluate(axe.source)
    await frame.evaluate(() => {
      const { axe } = globalThis as unknown as { axe: Axe }
      axe.configure({ allowedOrigins: ['<unsafe_all_origins>'] })
    })
  }
  const { violations, isWhole } = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: Axe }
    const { violations, passes } = await axe.run({ pingWaitTime: 30_000 })
    const targets = JSON.stringify(passes.flatMap(({ nodes }) => nodes.map(each => each.target)))
    return { violations: violations.map(({ id }) => id), isWhole: targets.includes('#cvc') }
  })
  expect(isWhole).toBe(true)
  return violations
}
