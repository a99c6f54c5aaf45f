/**
 * One field: what is typed in it, and what is told of it.
 * @module
 */
import type { Happening, Input, Page } from '../dom.ts'
import type { FieldName } from '../protocol.ts'
import { rewrite, type Writing } from './editing.ts'

/** What a field tells. */
export interface FieldEvents {
  readonly changed: () => void
  /** It was left with something in it. */
  readonly left: () => void
  /** Enter was pressed. */
  readonly entered: () => void
}

export interface Field {
  readonly digits: () => string
  readonly focus: () => void
  readonly clear: () => void
  /** @param fault empty for none @param isWrong whether it is more than a hint */
  readonly tell: (fault: string, isWrong: boolean) => void
}

/** @throws Error for a page without that element, which is not ours */
export function elementOf(page: Page, id: string): Input {
  const element = page.getElementById(id)
  if (element === null) throw new Error(`no element ${id}`)
  return element
}

/** Writes anew what a key, a paste or the browser's own filling has left. @returns its digits */
function rewriteInput(page: Page, input: Input, writing: Writing, before: string, kind?: string) {
  const typed = { text: input.value, caret: input.selectionStart ?? input.value.length }
  const { digits, text, caret } = rewrite(writing, before, typed, kind)
  if (text !== input.value) {
    input.value = text
    if (page.activeElement === input) input.setSelectionRange(caret, caret)
  }
  return digits
}

export function makeField(
  page: Page,
  name: FieldName,
  writing: Writing,
  events: FieldEvents,
): Field {
  const input = elementOf(page, name)
  const error = elementOf(page, `${name}-error`)
  // What a browser has kept of a visit before is not what stands here.
  let digits = (input.value = '')
  const read = ({ inputType, isComposing }: Happening): void => {
    // What an input method is still at must not be written over.
    if (isComposing === true) return
    digits = rewriteInput(page, input, writing, digits, inputType)
    events.changed()
  }
  for (const happening of ['input', 'change', 'compositionend']) {
    input.addEventListener(happening, read)
  }
  input.addEventListener('blur', () => {
    if (input.value !== '') events.left()
  })
  input.addEventListener('keydown', ({ key, isComposing }) => {
    if (key === 'Enter' && isComposing !== true) events.entered()
  })
  return {
    digits: () => digits,
    focus: () => input.focus(),
    clear() {
      input.value = digits = ''
    },
    tell(fault, isWrong) {
      input.setAttribute('aria-invalid', String(isWrong))
      // Set again, the same text would be read out again.
      if (error.textContent !== fault) error.textContent = fault
    },
  }
}
