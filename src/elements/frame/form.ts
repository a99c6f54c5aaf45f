/**
 * The fields as one form: its state, which the page is told, and its texts.
 * @module
 */
import type { PageDocument } from '../dom.ts'
import type { CardState, FieldName, Labels } from '../protocol.ts'
import { kindOfNumber } from './brands.ts'
import {
  cvcWriting,
  faultsOf,
  fieldNames,
  keepsFromVault,
  numberWriting,
  stateOf,
  type Digits,
} from './card.ts'
import { rewrite, type DigitFormat } from './editing.ts'
import { expiryWriting, type Expiry } from './expiry.ts'
import { elementOf, makeField, type Field, type FieldEvents, type Rewrite } from './field.ts'
import { directionOf, errorText } from './labels.ts'
import { rewriteName } from './name.ts'

export interface Form {
  readonly digits: () => Digits
  /** True while the number is being typed: it is no card until it was left, or submitted. */
  readonly isTyped: () => boolean
  /** Focuses the field that last had the caret, or the first: typing must land in no other. */
  readonly focus: () => void
  readonly clear: () => void
  /** Shows the errors and focuses the first. @returns the fields with errors */
  readonly check: () => readonly FieldName[]
  /** Once a token was made of the number, typing in its field begins another number. */
  readonly spend: (isSpent: boolean) => void
}

/** Events for the page. */
export interface FormEvents {
  readonly changed: (state: CardState) => void
  readonly entered: () => void
}

/** A page that does not ask for the name gets a document without it. */
const shownFields = (page: PageDocument): readonly FieldName[] =>
  fieldNames.filter(name => page.getElementById(name) !== null)

/** Texts of a shop are only ever set as text. */
function writeTexts(page: PageDocument, labels: Labels): void {
  const { documentElement: root } = page
  root.lang = labels.language
  root.dir = directionOf(labels)
  page.title = labels.frame
  for (const name of shownFields(page)) {
    elementOf(page, `${name}-label`).textContent = labels[name]
    elementOf(page, name).placeholder = labels[`${name}Placeholder`]
  }
}

type Fields = Readonly<Record<Exclude<FieldName, 'name'>, Field>> & { readonly name?: Field }

const digitsIn = ({ number, expiry, cvc, name }: Fields): Digits => ({
  number: number.value(),
  expiry: expiry.value(),
  cvc: cvc.value(),
  ...(name === undefined ? {} : { name: name.value() }),
})

const rewriteBy =
  (writing: DigitFormat): Rewrite =>
  (...typed) =>
    rewrite(writing, ...typed)

function makeFields(page: PageDocument, listen: (name: FieldName) => FieldEvents): Fields {
  const fields = {} as Record<FieldName, Field>
  const rewrites: Readonly<Record<FieldName, Rewrite>> = {
    number: rewriteBy(numberWriting),
    expiry: rewriteBy(expiryWriting),
    cvc: rewriteBy(cvcWriting(() => fields.number.value())),
    name: rewriteName,
  }
  for (const name of shownFields(page)) {
    fields[name] = makeField(page, name, rewrites[name], listen(name))
  }
  return fields
}

const empty: CardState = { complete: false, brand: 'unknown', errors: {} }

/** Errors change the frame's height, which the page sees: so they show only this state. */
function writeState(page: PageDocument, labels: Labels, fields: Fields, state: CardState): void {
  const brand = elementOf(page, 'brand')
  const { name } = kindOfNumber(fields.number.value())
  if (brand.textContent !== name) brand.textContent = name
  for (const field of fieldNames) {
    const fault = state.errors[field]
    fields[field]?.tell(errorText(labels, field, fault), keepsFromVault(fault))
  }
}

/** Shows the fields, which stay hidden until an allowed page has been met. */
export function makeForm(
  page: PageDocument,
  labels: Labels,
  today: () => Expiry,
  events: FormEvents,
): Form {
  const left = new Set<FieldName>()
  let told = JSON.stringify(empty)
  let number = ''
  /**
   * Never reset: when the page moves the focus into the frame, or out and back, the field loses the
   * caret, and the document no longer knows which field it was.
   */
  let caretIn: FieldName | undefined
  /** The page gets the number as last left: per key press, it would learn each digit. */
  const digitsLeft = (): Digits => {
    if (!fields.number.isTyped()) number = fields.number.value()
    return { ...digitsIn(fields), number }
  }
  const update = (): void => {
    const isTyped = fields.number.isTyped()
    if (isTyped) left.delete('number')
    const found = stateOf(digitsLeft(), today(), left)
    const state = { ...found, complete: found.complete && !isTyped }
    writeState(page, labels, fields, state)
    // The page hears of changes alone: the number of messages must not tell that of digits.
    if (told === (told = JSON.stringify(state))) return
    events.changed(state)
  }
  const leave = (...names: readonly FieldName[]): void => {
    for (const name of names) left.add(name)
    update()
  }
  const fields = makeFields(page, name => ({
    changed: update,
    left: () => leave(...(fields[name]?.value() ? [name] : [])),
    focused: () => void (caretIn = name),
    entered: events.entered,
  }))
  writeTexts(page, labels)
  elementOf(page, 'card').hidden = false
  return {
    digits: () => digitsIn(fields),
    isTyped: fields.number.isTyped,
    focus: () => fields[caretIn ?? 'number']?.focus(),
    clear() {
      left.clear()
      for (const name of fieldNames) fields[name]?.clear()
      update()
    },
    check() {
      const isTyped = fields.number.isTyped()
      leave(...fieldNames.filter(name => name !== 'number' || !isTyped))
      const faults = faultsOf(digitsLeft(), today())
      const isWrong = (name: FieldName): boolean =>
        keepsFromVault(faults[name]) || (name === 'number' && isTyped)
      const wrong = fieldNames.filter(isWrong)
      const [first] = wrong
      if (first !== undefined && (caretIn ?? first) === first) fields[first]?.focus()
      return wrong
    },
    spend: fields.number.spend,
  }
}
