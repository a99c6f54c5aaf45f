/**
 * One field: its value, its edits and the error shown with it.
 * @module
 */
import type { Happening, Input, PageDocument } from '../dom.ts'
import type { FieldName } from '../protocol.ts'
import type { Typed, Written } from './editing.ts'
import { bringIntoSight, typeUnseen } from './sight.ts'

/** Reformats a field after a key, a paste or autofill changed it. */
export type Rewrite = (before: string, typed: Typed, kind?: string) => Written

/** Events of a field. */
export interface FieldEvents {
  readonly changed: () => void
  readonly left: () => void
  /** The caret has come into it. */
  readonly focused: () => void
  /** Enter was pressed. */
  readonly entered: () => void
}

export interface Field {
  /** The accepted part of its text: digits, or a name. */
  readonly value: () => string
  /** True while it is being typed in: neither left nor submitted since. */
  readonly isTyped: () => boolean
  readonly focus: () => void
  readonly clear: () => void
  /** If spent, the next edit starts the field empty. */
  readonly spend: (isSpent: boolean) => void
  /** @param fault empty for none @param isWrong false for a hint */
  readonly tell: (fault: string, isWrong: boolean) => void
}

/** @throws Error for a page without that element, which is not ours */
export function elementOf(page: PageDocument, id: string): Input {
  const element = page.getElementById(id)
  if (element === null) throw new Error(`no element ${id}`)
  return element
}

/** @returns the value of the reformatted text */
function rewriteInput(
  page: PageDocument,
  input: Input,
  rewrite: Rewrite,
  before: string,
  kind?: string,
) {
  const typed = { text: input.value, caret: input.selectionStart ?? input.value.length }
  const { value, text, caret } = rewrite(before, typed, kind)
  if (text !== input.value) {
    input.value = text
    if (page.activeElement === input) input.setSelectionRange(caret, caret)
  }
  return value
}

/** State of a field, which its listeners change. */
interface Kept {
  value: string
  isTyped: boolean
  isSpent: boolean
}

function listen(
  page: PageDocument,
  input: Input,
  kept: Kept,
  { rewrite, changed, left, focused, entered }: FieldEvents & { readonly rewrite: Rewrite },
): void {
  input.addEventListener('beforeinput', () => {
    if (!kept.isSpent) return
    input.value = kept.value = ''
    kept.isSpent = false
    kept.isTyped = true
    changed()
  })
  typeUnseen(input, () => kept.value)
  const read = ({ inputType, isComposing }: Happening): void => {
    // An input method is still composing: its text must not be overwritten.
    if (isComposing === true) return
    const before = kept.value
    kept.value = rewriteInput(page, input, rewrite, before, inputType)
    // Autofill changes fields without the caret too; those were not typed in.
    if (kept.value !== before) kept.isTyped = page.activeElement === input
    if (kept.value !== before) kept.isSpent = false
    changed()
  }
  for (const happening of ['input', 'change', 'compositionend']) {
    input.addEventListener(happening, read)
  }
  // Whatever a person drags out of it would be told to the page below.
  input.addEventListener('dragstart', event => event.preventDefault())
  input.addEventListener('focus', focused)
  input.addEventListener('blur', () => {
    kept.isTyped = false
    left()
  })
  input.addEventListener('keydown', ({ key, isComposing }) => {
    if (key !== 'Enter' || isComposing === true) return
    kept.isTyped = false
    left()
    entered()
  })
}

export function makeField(
  page: PageDocument,
  name: FieldName,
  rewrite: Rewrite,
  events: FieldEvents,
): Field {
  const input = elementOf(page, name)
  const error = elementOf(page, `${name}-error`)
  const kept = { value: '', isTyped: false, isSpent: false }
  const clear = (): void => {
    input.value = ''
    Object.assign(kept, { value: '', isTyped: false, isSpent: false })
  }
  // A browser may restore the text of an earlier visit.
  clear()
  listen(page, input, kept, { ...events, rewrite })
  return {
    value: () => kept.value,
    isTyped: () => kept.isTyped,
    focus() {
      input.focus({ preventScroll: true })
      bringIntoSight(input)
    },
    clear,
    spend(isSpent) {
      kept.isSpent = isSpent
    },
    tell(fault, isWrong) {
      input.setAttribute('aria-invalid', String(isWrong))
      // Setting the same text again would have it read out again.
      if (error.textContent !== fault) error.textContent = fault
    },
  }
}
