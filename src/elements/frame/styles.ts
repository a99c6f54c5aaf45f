/**
 * The shop's styles: set property by property on rules of our own style sheet, so that no text of a
 * shop is ever parsed as a selector, a rule or markup.
 * @module
 */
import type { PageDocument, StyleRule } from '../dom.ts'
import { nameCharsShownMax, stylePropertiesMax, styleValueCharsMax } from '../limits.ts'
import type { StylePlace } from '../protocol.ts'
import { styleProperties } from './properties.ts'

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

/** One declaration: its place, a property as CSS writes it, and its value. */
type Declaration = readonly [place: StylePlace, property: string, value: string]

/** Words, numbers and colours; a font name may be quoted. */
const plain = /^[\w\s.,#%()"'/+-]*$/
const called = /[\w-]*\(/g
const colours = new Set(['rgb(', 'rgba(', 'hsl(', 'hsla(', 'hwb(', 'lab(', 'lch(', 'oklch('])

const isPlain = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length <= styleValueCharsMax &&
  plain.test(value) &&
  (value.match(called) ?? []).every(name => colours.has(name))

/** Returns `font-size` for `fontSize`. */
const cssName = (name: string): string =>
  name.replace(/[A-Z]/g, capital => `-${capital.toLowerCase()}`)

const isProperty = (name: string): boolean => (styleProperties as readonly string[]).includes(name)

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the place of an error, as a script would write it. */
const pathOf = (...names: readonly string[]): string =>
  ['styles', ...names].join('.').slice(0, nameCharsShownMax)

function declarationsIn(place: StylePlace, style: unknown): readonly Declaration[] | string {
  if (!isObject(style)) return `${pathOf(place)}: expected an object such as { color: '#333' }`
  const entries = Object.entries(style)
  if (entries.length > stylePropertiesMax) {
    return `${pathOf(place)}: expected at most ${stylePropertiesMax} properties`
  }
  const declarations: Declaration[] = []
  for (const [name, value] of entries) {
    const property = cssName(name)
    if (!isProperty(property)) {
      return `${pathOf(place, name)}: expected one of ${styleProperties.join(', ')}`
    }
    if (!isPlain(value)) {
      return (
        `${pathOf(place, name)}: expected a text of at most ${styleValueCharsMax} characters, ` +
        "such as '16px', '#333' or 'rgb(0 0 0 / 50%)', without url(), var() or calc()"
      )
    }
    declarations.push([place, property, value])
  }
  return declarations
}

/** @returns an error message for anything but allowed properties and values */
export function stylesOf(given: unknown): readonly Declaration[] | string {
  if (!isObject(given)) return `${pathOf()}: expected an object such as { input: { … } }`
  const all: Declaration[] = []
  for (const [place, style] of Object.entries(given)) {
    if (!Object.hasOwn(selectors, place)) {
      return `${pathOf(place)}: expected one of ${Object.keys(selectors).join(', ')}`
    }
    const declarations = declarationsIn(place as StylePlace, style)
    if (typeof declarations === 'string') return declarations
    all.push(...declarations)
  }
  return all
}

function ruleOf({ styleSheets }: PageDocument, selector: string): StyleRule | undefined {
  const rules = Array.from(styleSheets).flatMap(({ cssRules }) => Array.from(cssRules))
  return rules.findLast(({ selectorText }) => selectorText === selector)
}

/** Replaces all earlier declarations. */
export function applyStyles(page: PageDocument, declarations: readonly Declaration[]): void {
  for (const [place, selector] of Object.entries(selectors)) {
    const rule = ruleOf(page, selector)
    if (rule === undefined) continue
    rule.style.cssText = ''
    for (const [at, property, value] of declarations) {
      if (at === place) rule.style.setProperty(property, value)
    }
  }
}
