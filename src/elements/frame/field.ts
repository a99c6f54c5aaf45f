/**
 * One field: what is typed in it, and what is told of it.
 * @module
 */
import type { Happening, Input, PageDocument } from '../dom.ts'
import type { FieldName } from '../protocol.ts'
import type { Typed, Written } from './editing.ts'

/** How a field writes anew what a key, a paste or the browser's own filling has left in it. */
export type Rewrite = (before: string, typed: Typed, kind?: string) => Written

/** What a field tells. */
export interface FieldEvents {
  readonly changed: () => void
  readonly left: () => void
  /** The caret has come into it. */
  readonly focused: () => void
  /** Enter was pressed. */
  readonly entered: () => void
}

export interface Field {
  /** What counts of its text: digits, or a name. */
  readonly value: () => string
  /** Whether it was typed in, and neither left nor submitted since. */
  readonly isTyped: () => boolean
  readonly focus: () => void
  readonly clear: () => void
  /** What is typed in it next begins it anew; or not, after all. */
  readonly spend: (isSpent: boolean) => void
  /** @param fault empty for none @param isWrong whether it is more than a hint */
  readonly tell: (fault: string, isWrong: boolean) => void
}

/** @throws Error for a page without that element, which is not ours */
export function elementOf(page: PageDocument, id: string): Input {
  const element = page.getElementById(id)
  if (element === null) throw new Error(`no element ${id}`)
  return element
}

/** @returns what counts of what stands there then */
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

/** What a field listens to, as what it keeps goes through it. */
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
  const read = ({ inputType, isComposing }: Happening): void => {
    // What an input method is still at must not be written over.
    if (isComposing === true) return
    const before = kept.value
    kept.value = rewriteInput(page, input, rewrite, before, inputType)
    // The browser's own filling types in no field but that with the caret.
    if (kept.value !== before) kept.isTyped = page.activeElement === input
    if (kept.value !== before) kept.isSpent = false
    changed()
  }
  for (const happening of ['input', 'change', 'compositionend']) {
    input.addEventListener(happening, read)
  }
  input.addEventListener('beforeinput', () => {
    if (!kept.isSpent) return
    input.value = kept.value = ''
    kept.isSpent = false
    kept.isTyped = true
    changed()
  })
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
  // What a browser has kept of a visit before is not what stands here.
  clear()
  listen(page, input, kept, { ...events, rewrite })
  return {
    value: () => kept.value,
    isTyped: () => kept.isTyped,
    focus: () => input.focus(),
    clear,
    spend(isSpent) {
      kept.isSpent = isSpent
    },
    tell(fault, isWrong) {
      input.setAttribute('aria-invalid', String(isWrong))
      // Set again, the same text would be read out again.
      if (error.textContent !== fault) error.textContent = fault
    },
  }
}
