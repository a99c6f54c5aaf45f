/**
 * The three fields as one form: its state, which the page is told, and its texts.
 * @module
 */
import type { Page } from '../dom.ts'
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
import type { Writing } from './editing.ts'
import { expiryWriting, type Expiry } from './expiry.ts'
import { elementOf, makeField, type Field, type FieldEvents } from './field.ts'
import { directionOf, errorText } from './labels.ts'

export interface Form {
  readonly digits: () => Digits
  readonly focus: () => void
  readonly clear: () => void
  /** Tells what keeps the card from the vault, and leads there. @returns the fields it is in */
  readonly check: () => readonly FieldName[]
}

/** What the page is told. */
export interface FormEvents {
  readonly changed: (state: CardState) => void
  readonly entered: () => void
}

/** Texts of a shop are texts and nothing else. */
function writeTexts(page: Page, labels: Labels): void {
  const { documentElement: root } = page
  root.lang = labels.language
  root.dir = directionOf(labels)
  page.title = labels.frame
  for (const name of fieldNames) {
    elementOf(page, `${name}-label`).textContent = labels[name]
    elementOf(page, name).placeholder = labels[`${name}Placeholder`]
  }
}

type Fields = Readonly<Record<FieldName, Field>>

const digitsIn = ({ number, expiry, cvc }: Fields): Digits => ({
  number: number.digits(),
  expiry: expiry.digits(),
  cvc: cvc.digits(),
})

function makeFields(page: Page, listen: (name: FieldName) => FieldEvents): Fields {
  const fields = {} as Record<FieldName, Field>
  const writings: Readonly<Record<FieldName, Writing>> = {
    number: numberWriting,
    expiry: expiryWriting,
    cvc: cvcWriting(() => fields.number.digits()),
  }
  for (const name of fieldNames) {
    fields[name] = makeField(page, name, writings[name], listen(name))
  }
  return fields
}

/** What is written into the document of a state. */
function writeState(page: Page, labels: Labels, fields: Fields, number: string, state: CardState) {
  const brand = elementOf(page, 'brand')
  const { name } = kindOfNumber(number)
  if (brand.textContent !== name) brand.textContent = name
  for (const field of fieldNames) {
    const fault = state.errors[field]
    fields[field].tell(errorText(labels, field, fault), keepsFromVault(fault))
  }
}

/** Shows the fields, which are hidden before there is a shop that they are for. */
export function makeForm(
  page: Page,
  labels: Labels,
  today: () => Expiry,
  events: FormEvents,
): Form {
  const left = new Set<FieldName>()
  let told = ''
  const update = (): void => {
    const state = stateOf(digitsIn(fields), today(), left)
    writeState(page, labels, fields, fields.number.digits(), state)
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
    left: () => leave(name),
    entered: events.entered,
  }))
  writeTexts(page, labels)
  elementOf(page, 'card').hidden = false
  return {
    digits: () => digitsIn(fields),
    focus: () => fields.number.focus(),
    clear() {
      left.clear()
      for (const name of fieldNames) fields[name].clear()
      update()
    },
    check() {
      leave(...fieldNames)
      const faults = faultsOf(digitsIn(fields), today())
      const wrong = fieldNames.filter(name => keepsFromVault(faults[name]))
      for (const name of wrong.slice(0, 1)) fields[name].focus()
      return wrong
    },
  }
}
