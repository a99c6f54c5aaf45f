/**
 * The shop's styles: set property by property on rules that stand in our style sheet, so that no
 * text of a shop is ever read as a selector, a rule or markup.
 * @module
 */
import type { Page, StyleRule } from '../dom.ts'
import { stylePropertiesMax, styleValueCharsMax } from '../limits.ts'
import type { StylePlace, Styles } from '../protocol.ts'

/** Selectors of the empty rules at the end of `card.css`. */
const selectors: Readonly<Record<StylePlace, string>> = {
  form: 'form',
  label: 'label',
  input: 'input',
  focus: 'input:focus',
  invalid: 'input[aria-invalid="true"]',
  placeholder: 'input::placeholder',
  brand: '#brand',
  error: '.error',
}

/** None of them loads anything, moves a field over another one, or hides it. */
const property = new RegExp(
  '^(?:color|background-color|caret-color|accent-color' +
    '|(?:row-|column-)?gap|padding(?:-(?:top|right|bottom|left))?' +
    '|border(?:-(?:top|right|bottom|left))?(?:-(?:color|style|width))?|border-radius' +
    '|outline(?:-(?:color|style|width|offset))?|box-shadow' +
    '|font-(?:family|size|style|weight|variant-numeric)|line-height|letter-spacing' +
    '|text-(?:align|transform|decoration))$',
)

/** Words, numbers and colours; a name of a font may stand in quotes. */
const plain = /^[\w\s.,#%()"'/+-]*$/
const called = /[\w-]*\(/g
const colours = new Set(['rgb(', 'rgba(', 'hsl(', 'hsla(', 'hwb(', 'lab(', 'lch(', 'oklch('])

function isPlain(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > styleValueCharsMax) return false
  return plain.test(value) && (value.match(called) ?? []).every(name => colours.has(name))
}

const isStyle = (style: unknown): boolean => {
  if (typeof style !== 'object' || style === null) return false
  const entries = Object.entries(style)
  return (
    entries.length <= stylePropertiesMax &&
    entries.every(([name, value]) => property.test(name) && isPlain(value))
  )
}

/** @returns `undefined` for what holds anything but such properties and values */
export function stylesOf(given: unknown): Styles | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const areAll = Object.entries(given).every(
    ([place, style]) => Object.hasOwn(selectors, place) && isStyle(style),
  )
  return areAll ? (given as Styles) : undefined
}

function ruleOf({ styleSheets }: Page, selector: string): StyleRule | undefined {
  const rules = Array.from(styleSheets).flatMap(({ cssRules }) => Array.from(cssRules))
  return rules.findLast(({ selectorText }) => selectorText === selector)
}

export function applyStyles(page: Page, styles: Styles): void {
  for (const [place, style] of Object.entries(styles)) {
    const rule = ruleOf(page, selectors[place as StylePlace])
    for (const [name, value] of Object.entries(style)) rule?.style.setProperty(name, value)
  }
}
