/**
 * Parses bytes to text to Json, strictly: RFC 3629, RFC 8259 and nothing else.
 *
 * It refuses text that cannot be kept byte for byte: duplicate names, lone surrogates, numbers
 * beyond the finite double range, a BOM, deep nesting, an object of too many members. Messages give
 * a position and what was expected there, never the text. Open values are a list of at most
 * `jsonDepthMax`, so nothing recurses. Strings share the memory of the text: use `ownText` for
 * those that are kept.
 * Source: RFC 3629; RFC 8259; contract sections 1 and 16.
 * @module
 */
import { invalid, invariant } from '../errors.ts'
import { jsonDepthMax, jsonMembersMax, jsonNumberCharsMax } from '../../limits/limits.ts'
import { jsonTurnChars } from '../../limits/work-limits.ts'
import { isDigitCode } from '../bytes.ts'
import { withMember, type Json, type MutableObject } from './json.ts'
import { decodeQuoted, type IsBefore } from '../maps.ts'

type Cursor = {
  readonly text: string
  /** Field path for refusals. */
  readonly path: string
  readonly isBefore: IsBefore | undefined
  /** Bound for each object. */
  readonly membersMax: number
  /** Index of the next UTF-16 code unit. */
  at: number
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const minus = 0x2d
const plus = 0x2b
const point = 0x2e
const zero = 0x30
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
const lowerE = 0x65
const lowerU = 0x75
const caseBit = 0x20

const words = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const

const simpleEscapes = new Set(Array.from('"\\/bfnrt', char => char.charCodeAt(0)))

const refuse = (cursor: Cursor, at: number, expected: string): never => {
  throw invalid(cursor.path, `expected ${expected} at character ${at} of the JSON text`)
}

const skipSpace = (cursor: Cursor): void => {
  const { text } = cursor
  let at = cursor.at
  let code = text.charCodeAt(at)
  while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
    code = text.charCodeAt(++at)
  }
  cursor.at = at
}

/** Consumes one character if it is next after white space. */
const tryTake = (cursor: Cursor, code: number): boolean => {
  skipSpace(cursor)
  if (cursor.text.charCodeAt(cursor.at) !== code) return false
  cursor.at += 1
  return true
}

const isHexDigit = (code: number): boolean =>
  isDigitCode(code) || ((code | caseBit) >= 0x61 && (code | caseBit) <= 0x66)

/** @returns the index after the escape that starts at `at` */
const passEscape = (cursor: Cursor, at: number): number => {
  const { text } = cursor
  const kind = text.charCodeAt(at + 1)
  if (simpleEscapes.has(kind)) return at + 2
  if (kind !== lowerU) refuse(cursor, at, 'a valid escape')
  for (let digit = at + 2; digit < at + 6; digit += 1) {
    if (!isHexDigit(text.charCodeAt(digit))) refuse(cursor, at, 'four hexadecimal digits after \\u')
  }
  return at + 6
}

/** The literal is already checked, so the native parser only decodes it. */
const decodeLiteral = (cursor: Cursor, start: number, end: number): string => {
  const value = decodeQuoted(cursor.text.slice(start, end))
  if (!value.isWellFormed()) refuse(cursor, start, 'a string without lone surrogates')
  return value
}

const readString = (cursor: Cursor): string => {
  const { text, at: start } = cursor
  let at = start + 1
  let hasEscapes = false
  for (let code = text.charCodeAt(at); code !== quote; code = text.charCodeAt(at)) {
    if (code === backslash) {
      at = passEscape(cursor, at)
      hasEscapes = true
    } else if (code >= 0x20) at += 1
    else refuse(cursor, at, 'a closing quote and no raw control character')
  }
  cursor.at = at + 1
  return hasEscapes ? decodeLiteral(cursor, start, at + 1) : text.slice(start + 1, at)
}

/** @returns the index after the run of at least one digit */
const passDigits = (cursor: Cursor, start: number): number => {
  const { text } = cursor
  let at = start
  while (isDigitCode(text.charCodeAt(at))) at += 1
  if (at === start) refuse(cursor, at, 'a digit')
  return at
}

const passExponent = (cursor: Cursor, start: number): number => {
  const sign = cursor.text.charCodeAt(start)
  return passDigits(cursor, sign === plus || sign === minus ? start + 1 : start)
}

const passNumber = (cursor: Cursor): number => {
  const { text } = cursor
  let at = cursor.at
  if (text.charCodeAt(at) === minus) at += 1
  // A zero ends the integer part, so that 01 fails at its second digit.
  at = text.charCodeAt(at) === zero ? at + 1 : passDigits(cursor, at)
  if (text.charCodeAt(at) === point) at = passDigits(cursor, at + 1)
  if ((text.charCodeAt(at) | caseBit) === lowerE) at = passExponent(cursor, at + 1)
  return at
}

const readNumber = (cursor: Cursor): Json => {
  const start = cursor.at
  const end = passNumber(cursor)
  if (end - start > jsonNumberCharsMax) {
    refuse(cursor, start, `a number of at most ${jsonNumberCharsMax} characters`)
  }
  const numberText = cursor.text.slice(start, end)
  const value = Number(numberText)
  if (!Number.isFinite(value)) refuse(cursor, start, 'a number within the range of a double')
  cursor.at = end
  return String(value) === numberText ? value : { numberText }
}

const readWord = (cursor: Cursor): Json => {
  const word = words.find(([text]) => cursor.text.startsWith(text, cursor.at))
  if (word === undefined) return refuse(cursor, cursor.at, 'a value')
  cursor.at += word[0].length
  return word[1]
}

interface ArrayFrame {
  readonly items: Json[]
}

interface ObjectFrame {
  readonly items?: undefined
  members: MutableObject
  /** Name of the member whose value is being read. */
  name: string
  nameAt: number
}

/** A text that is being read, and the values open at the current position. */
interface Reading {
  readonly cursor: Cursor
  readonly frames: (ArrayFrame | ObjectFrame)[]
}

const readName = (cursor: Cursor, frame: ObjectFrame): void => {
  skipSpace(cursor)
  frame.nameAt = cursor.at
  if (cursor.text.charCodeAt(cursor.at) !== quote) refuse(cursor, cursor.at, 'a quoted member name')
  if (frame.members.size === cursor.membersMax) {
    refuse(cursor, cursor.at, `an object of at most ${cursor.membersMax} members`)
  }
  frame.name = readString(cursor)
  if (!tryTake(cursor, colon)) refuse(cursor, cursor.at, 'a colon')
}

/** @returns an empty object; `undefined` if a first value follows */
const beginObject = ({ cursor, frames }: Reading): Json | undefined => {
  const members: MutableObject = new Map()
  if (tryTake(cursor, closeBrace)) return members
  const frame: ObjectFrame = { members, name: '', nameAt: 0 }
  readName(cursor, frame)
  frames.push(frame)
  return undefined
}

const beginArray = ({ cursor, frames }: Reading): Json | undefined => {
  const items: Json[] = []
  if (tryTake(cursor, closeBracket)) return items
  frames.push({ items })
  return undefined
}

/** @returns a complete value; `undefined` where an array or object begins */
const beginValue = (reading: Reading): Json | undefined => {
  const { cursor, frames } = reading
  skipSpace(cursor)
  const code = cursor.text.charCodeAt(cursor.at)
  if (code === quote) return readString(cursor)
  if (code === openBrace || code === openBracket) {
    if (frames.length >= jsonDepthMax) refuse(cursor, cursor.at, `at most ${jsonDepthMax} levels`)
    cursor.at += 1
    return code === openBrace ? beginObject(reading) : beginArray(reading)
  }
  if (code === minus || isDigitCode(code)) return readNumber(cursor)
  return readWord(cursor)
}

/** Adds a value to its object. @returns the object, if it ends there */
const endMember = (cursor: Cursor, frame: ObjectFrame, value: Json): Json | undefined => {
  const { members, name, nameAt } = frame
  const sizeBefore = members.size
  frame.members = withMember(members, name, value, cursor.isBefore)
  // An unchanged size shows a duplicate without another look-up. Names are compared decoded.
  if (frame.members.size === sizeBefore) {
    refuse(cursor, nameAt, 'a name that its object does not have yet')
  }
  if (tryTake(cursor, comma)) {
    readName(cursor, frame)
    return undefined
  }
  if (!tryTake(cursor, closeBrace)) refuse(cursor, cursor.at, 'a comma or a closing brace')
  return frame.members
}

const endItem = (cursor: Cursor, { items }: ArrayFrame, value: Json): Json | undefined => {
  items.push(value)
  if (tryTake(cursor, comma)) return undefined
  if (!tryTake(cursor, closeBracket)) refuse(cursor, cursor.at, 'a comma or a closing bracket')
  return items
}

/** Closes all that ends with this value. @returns the whole value, once nothing is open */
const endValue = ({ cursor, frames }: Reading, value: Json): Json | undefined => {
  let ended: Json | undefined = value
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    ended =
      frame.items === undefined ? endMember(cursor, frame, ended) : endItem(cursor, frame, ended)
    if (ended === undefined) return undefined
    frames.pop()
  }
  return ended
}

/** Reads on, at least to `untilAt`. @returns the whole value, if it ends before that */
const readOn = (reading: Reading, untilAt: number): Json | undefined => {
  do {
    const begun = beginValue(reading)
    const whole = begun === undefined ? undefined : endValue(reading, begun)
    if (whole !== undefined) return whole
  } while (reading.cursor.at < untilAt)
  return undefined
}

/** In unicode mode, matches only a surrogate without its pair. */
const loneSurrogate = /\p{Surrogate}/u

const beginReading = (
  text: string,
  path: string,
  isBefore?: IsBefore,
  membersMax = jsonMembersMax,
): Reading => {
  const cursor: Cursor = { text, path, isBefore, membersMax, at: 0 }
  // Checked once for the whole text: later only escapes can make a lone surrogate.
  if (!text.isWellFormed()) {
    refuse(cursor, loneSurrogate.exec(text)?.index ?? 0, 'no lone surrogate')
  }
  return { cursor, frames: [] }
}

const assertEnd = ({ cursor }: Reading): void => {
  skipSpace(cursor)
  if (cursor.at < cursor.text.length) refuse(cursor, cursor.at, 'the end')
}

/**
 * Parses one JSON text. Positions in refusals count UTF-16 code units from 0.
 * @param text  decoded text (`decodeUtf8`), white space around the value allowed
 * @param path  field path under which a refusal is reported
 * @param isBefore  counts comparisons of names in tests
 * @throws ApiError `invalid_request`, also for a number of more than `jsonNumberCharsMax`
 *   characters and an object of more than `jsonMembersMax` members
 * Source: RFC 8259; contract section 1. decision: 1e-400 is kept as its text, 1e400 is refused.
 */
export const parseJson = (text: string, path = 'body', isBefore?: IsBefore): Json =>
  readWhole(beginReading(text, path, isBefore))

/**
 * Parses a text that this vault stored, with any number of members: that bound is for requests, and
 * lowering it must not make stored data unreadable.
 */
export const parseStoredJson = (text: string): Json =>
  readWhole(beginReading(text, 'data', undefined, Number.POSITIVE_INFINITY))

const readWhole = (reading: Reading): Json => {
  const value = readOn(reading, Number.POSITIVE_INFINITY)
  invariant(value !== undefined, 'a text without an end was refused')
  assertEnd(reading)
  return value
}

/**
 * Like `parseJson`, for a long text: others run after every `jsonTurnChars`.
 * @param pause  resolves when it is time to go on
 */
export const parseJsonInTurns = async (text: string, pause: () => Promise<void>): Promise<Json> =>
  readInTurns(beginReading(text, 'body'), pause)

/** Like `parseStoredJson`, in turns. */
export const parseStoredJsonInTurns = async (
  text: string,
  pause: () => Promise<void>,
): Promise<Json> =>
  readInTurns(beginReading(text, 'data', undefined, Number.POSITIVE_INFINITY), pause)

const readInTurns = async (reading: Reading, pause: () => Promise<void>): Promise<Json> => {
  for (;;) {
    const value = readOn(reading, reading.cursor.at + jsonTurnChars)
    if (value === undefined) await pause()
    else {
      assertEnd(reading)
      return value
    }
  }
}

// `ignoreBOM` keeps a BOM in the text, so that it is refused instead of dropped.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const byteOrderMark = 0xfeff

const decodeOrThrow = (bytes: Uint8Array, path: string): string => {
  try {
    return decoder.decode(bytes)
  } catch {
    throw invalid(path, `expected valid UTF-8, got ${bytes.length} bytes that are not`)
  }
}

/**
 * @param path  field path under which a refusal is reported
 * @returns well-formed text, never with U+FFFD in place of bad bytes
 * @throws ApiError `invalid_request` for bytes that are not UTF-8 and for a leading BOM
 */
export const decodeUtf8 = (bytes: Uint8Array, path = 'body'): string => {
  const text = decodeOrThrow(bytes, path)
  if (text.charCodeAt(0) === byteOrderMark) throw invalid(path, 'expected no byte order mark')
  return text
}
