/**
 * Contrasts of the design, light and dark.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { lookVariables, schemeVariables, siteVariables } from '../../../src/lib/look.ts'

type Colours = ReadonlyMap<string, string>

const coloursIn = (css: string): Colours =>
  new Map(
    [...css.matchAll(/--([\w-]+): (#[\da-f]+);/g)].map(([, name = '', hex = '']) => [name, hex]),
  )

const [lightText = '', darkText = ''] = lookVariables.split('@media (prefers-color-scheme: dark)')
const schemes = [
  ['light', coloursIn(lightText)],
  ['dark', coloursIn(darkText)],
] as const

/** Relative luminance by WCAG 2.2. */
function luminanceOf(hex: string): number {
  const long = hex.length === 4 ? hex.replaceAll(/[\da-f]/g, '$&$&') : hex
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map(at => {
    const part = Number.parseInt(long.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrastOf(colours: Colours, one: string, other: string): number {
  const [dim = 0, bright = 0] = [one, other]
    .map(name => luminanceOf(colours.get(name) ?? ''))
    .toSorted((a, b) => a - b)
  return (bright + 0.05) / (dim + 0.05)
}

const texts: readonly (readonly [ground: string, texts: readonly string[]])[] = [
  ['ground', ['text', 'soft', 'hint', 'accent', 'good', 'caution', 'wrong']],
  ['raised', ['text', 'soft', 'hint', 'accent', 'good', 'caution', 'wrong']],
  ['field', ['typed', 'hint', 'brand']],
  ['accent', ['on-accent']],
  ['good', ['on-accent']],
  ['caution', ['on-accent']],
  ['wrong', ['on-accent']],
  ['reveal', ['text']],
  ['mask', ['text', 'soft']],
  ['redact', ['text']],
]

describe.each(schemes)('in the %s', (_, colours) => {
  test.each(texts)('texts on %s can be read', (ground, names) => {
    for (const name of names) {
      expect([name, contrastOf(colours, name, ground) >= 4.5]).toEqual([name, true])
    }
  })

  test.each(['ground', 'raised', 'field'])('edges of controls on %s can be seen', ground => {
    for (const name of ['edge', 'focus', 'accent', 'wrong']) {
      expect([name, contrastOf(colours, name, ground) >= 3]).toEqual([name, true])
    }
  })
})

test('each page has the same design, as the system, the shop or the reader chooses', () => {
  const [ofShop = '', ofShopInTheDark = ''] = schemeVariables.split("[data-scheme='dark']")
  const [ofSite = '', ofSiteInTheDark = ''] = siteVariables.split(':root.dark')
  for (const text of [ofShop, ofSite]) expect(coloursIn(text)).toEqual(coloursIn(lightText))
  for (const text of [ofShopInTheDark, ofSiteInTheDark]) {
    expect(coloursIn(text)).toEqual(coloursIn(darkText))
  }
})
