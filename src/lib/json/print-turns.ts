/**
 * Prints long values in turns, once, and keeps the texts so that later prints are immediate.
 *
 * A long value is printed as a whole, in both forms; the texts of its long parts are slices of
 * that. They are kept as long as the values, which no longer change.
 * @module
 */
import { jsonTurnChars } from '../../limits/work-limits.ts'
import { measureJson } from '../../language/expression/run.ts'
import {
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  canonical,
  faithful,
  printScalar,
  type PrintStyle,
} from './json.ts'

type Pause = () => Promise<void>

type Compound = readonly Json[] | JsonObject

/** An array or object that is partly printed. */
interface Frame {
  readonly value: Compound
  readonly members: Iterator<readonly [string, Json]> | undefined
  readonly items: Iterator<Json> | undefined
  /** Position at which its text begins. */
  readonly startAt: number
  isFirst: boolean
}

interface Printing {
  readonly style: PrintStyle
  readonly frames: Frame[]
  /** Pieces of this turn. */
  pieces: string[]
  /** Texts of earlier turns, each in memory of its own. */
  readonly texts: string[]
  length: number
  readonly long: { readonly value: Compound; readonly startAt: number; readonly endAt: number }[]
}

const isCompound = (value: Json): value is Compound => isJsonArray(value) || isJsonObject(value)

const add = (printing: Printing, text: string): void => {
  printing.pieces.push(text)
  printing.length += text.length
}

const begin = (printing: Printing, value: Json): void => {
  const { style, frames, length: startAt } = printing
  if (!isCompound(value)) return add(printing, printScalar(value, style))
  const isArray = isJsonArray(value)
  frames.push({
    value,
    members: isArray ? undefined : style.members(value)[Symbol.iterator](),
    items: isArray ? value[Symbol.iterator]() : undefined,
    startAt,
    isFirst: true,
  })
  add(printing, isArray ? '[' : '{')
}

const end = (printing: Printing, { value, startAt, items }: Frame): void => {
  add(printing, items === undefined ? '}' : ']')
  printing.frames.pop()
  const endAt = printing.length
  if (endAt - startAt > jsonTurnChars) printing.long.push({ value, startAt, endAt })
}

/** Prints one member or item of the innermost frame, or its end. */
const step = (printing: Printing, frame: Frame): void => {
  const comma = frame.isFirst ? '' : ','
  frame.isFirst = false
  if (frame.members === undefined) {
    const next = frame.items?.next()
    if (next === undefined || next.done === true) return end(printing, frame)
    add(printing, comma)
    return begin(printing, next.value)
  }
  const next = frame.members.next()
  if (next.done === true) return end(printing, frame)
  const [name, value] = next.value
  add(printing, `${comma}${JSON.stringify(name)}:`)
  begin(printing, value)
}

const endTurn = (printing: Printing): void => {
  printing.texts.push(printing.pieces.join(''))
  printing.pieces = []
}

async function printStyle(value: Json, style: PrintStyle, pause: Pause): Promise<void> {
  const printing: Printing = { style, frames: [], pieces: [], texts: [], length: 0, long: [] }
  begin(printing, value)
  let turnAt = 0
  for (let frame = printing.frames.at(-1); frame; frame = printing.frames.at(-1)) {
    step(printing, frame)
    if (printing.length - turnAt < jsonTurnChars) continue
    turnAt = printing.length
    endTurn(printing)
    await pause()
  }
  endTurn(printing)
  const whole = printing.texts.join('')
  for (const { value: part, startAt, endAt } of printing.long) {
    style.kept.set(part, whole.slice(startAt, endAt))
  }
}

/**
 * Prints a value in both forms, and keeps the text of each long part.
 * @param pause  resolves when it is time to go on
 */
export async function printInTurns(value: Json, pause: Pause): Promise<void> {
  await printStyle(value, faithful, pause)
  await pause()
  await printStyle(value, canonical, pause)
  await pause()
}

/** Escapes and re-printed numbers grow it to at most one turn. */
const shortPartChars = jsonTurnChars / 8

function partsOf(body: Json): Iterable<Json> {
  if (isJsonArray(body)) return body
  return isJsonObject(body) ? body.values() : []
}

/**
 * Prints each long part of a body, which is itself never printed: the members of a request, or the
 * items of many.
 */
export async function printPartsInTurns(body: Json, pause: Pause): Promise<void> {
  let looked = 0
  for (const part of partsOf(body)) {
    const size = measureJson(part, shortPartChars)
    if (size > shortPartChars) await printInTurns(part, pause)
    looked += size
    if (looked < jsonTurnChars) continue
    looked = 0
    await pause()
  }
}
