/**
 * Encodings of a text that a file or an answer may hold, and a search for them.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Returns the base64 of the text at one alignment, without the characters at both ends, which
 * depend on the neighbouring bytes.
 */
const base64At = (text: string, shift: number): string => {
  const whole = Buffer.concat([Buffer.alloc(shift), Buffer.from(text)])
  return whole.toString('base64').slice(shift === 0 ? 0 : 4, -4)
}

const urlSafe = (base64: string): string => base64.replaceAll('+', '-').replaceAll('/', '_')

const hexOf = (text: string): string => Buffer.from(text).toString('hex')

const utf16 = (text: string): Buffer[] => {
  const little = Buffer.from(text, 'utf16le')
  return [little, Buffer.from(little).swap16()]
}

/** Binary forms of a number: packed digits, integers and doubles of both byte orders. */
function numbersOf(digits: string): Buffer[] {
  if (!/^[0-9]{13,18}$/.test(digits)) return []
  const integer = Buffer.alloc(8)
  integer.writeBigUInt64LE(BigInt(digits))
  const double = Buffer.alloc(8)
  double.writeDoubleLE(Number(digits))
  const packed = digits.length % 2 === 0 ? [Buffer.from(digits, 'hex')] : []
  return [...packed, ...[integer, double].flatMap(each => [each, Buffer.from(each).swap64()])]
}

/** One case of the text: raw, UTF-16, hex and base64 at every alignment, and reversed. */
function encodingsOfCase(text: string): Buffer[] {
  const reversed = [...text].reverse().join('')
  const base64 = [0, 1, 2].map(shift => base64At(text, shift))
  const texts = [text, reversed, ...base64, ...base64.map(urlSafe)]
  const hex = hexOf(text)
  return [
    ...[...texts, hex, hex.toUpperCase()].map(each => Buffer.from(each)),
    ...utf16(text),
    ...utf16(reversed),
    ...numbersOf(text),
  ]
}

/** Every form of the text that is searched for: as it is, in lower and in upper case. */
export const encodingsOf = (text: string): readonly Buffer[] =>
  [...new Set([text, text.toLowerCase(), text.toUpperCase()])].flatMap(encodingsOfCase)

/** Forms of a secret that is bytes: raw, and hex and base64 of one of its ends. */
export const encodingsOfBytes = (bytes: Uint8Array): readonly Buffer[] => {
  const raw = Buffer.from(bytes)
  const hex = raw.toString('hex')
  const whole = raw.toString('base64').slice(0, -4)
  return [raw, ...[hex, hex.toUpperCase(), whole, urlSafe(whole)].map(each => Buffer.from(each))]
}

/** Returns every file below a folder with its bytes, except sockets. */
export const filesOf = (
  folder: string,
  without: readonly string[] = [],
): readonly (readonly [name: string, bytes: Buffer])[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !without.includes(entry.name))
    .map(entry => {
      const path = join(entry.parentPath, entry.name)
      return [path.slice(folder.length + 1), readFileSync(path)] as const
    })

/** Forms of each secret, by a name that may be printed. */
export type Needles = ReadonlyMap<string, readonly Buffer[]>

/** @returns each find with its place: `data.mdb: the first key, …ab12qzx7kvw9…` */
export const findLeaks = (
  places: readonly (readonly [name: string, bytes: Buffer])[],
  needles: Needles,
): readonly string[] =>
  places.flatMap(([place, bytes]) =>
    [...needles].flatMap(([name, forms]) => {
      const at = forms.map(form => bytes.indexOf(form)).find(found => found >= 0)
      if (at === undefined) return []
      const around = bytes.toString('latin1', Math.max(0, at - 60), at + 60)
      return [`${place}: ${name}, in ${JSON.stringify(around)}`]
    }),
  )
