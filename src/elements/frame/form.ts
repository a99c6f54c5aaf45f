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
  /** Whether the number is being typed: it is no card until it was left, or submitted. */
  readonly isTyped: () => boolean
  /** To the first field, or to that which had the caret: what is typed must land in no other. */
  readonly focus: () => void
  readonly clear: () => void
  /** Tells what keeps the card from the vault, and leads there. @returns the fields it is in */
  readonly check: () => readonly FieldName[]
  /** A token is made of the number: what is typed in it next is another one; or not, after all. */
  readonly spend: (isSpent: boolean) => void
}

/** What the page is told. */
export interface FormEvents {
  readonly changed: (state: CardState) => void
  readonly entered: () => void
}

/** The name is taken out of the document of a page that does not ask for it. */
const shownFields = (page: PageDocument): readonly FieldName[] =>
  fieldNames.filter(name => page.getElementById(name) !== null)

/** Texts of a shop are texts and nothing else. */
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

/** What is written into the document of a state: an error is as high as what the page is told. */
function writeState(page: PageDocument, labels: Labels, fields: Fields, state: CardState): void {
  const brand = elementOf(page, 'brand')
  const { name } = kindOfNumber(fields.number.value())
  if (brand.textContent !== name) brand.textContent = name
  for (const field of fieldNames) {
    const fault = state.errors[field]
    fields[field]?.tell(errorText(labels, field, fault), keepsFromVault(fault))
  }
}

/** Shows the fields, which are hidden before there is a shop that they are for. */
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
   * Kept for good: by moving the focus into the frame, or out and back, the page takes the caret
   * from a field, and the document does not know any more where it was.
   */
  let caretIn: FieldName | undefined
  /** The page is told of the number as it was left: with each key it would learn of each digit. */
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
    // How many digits were typed is not told by how often something is told.
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
