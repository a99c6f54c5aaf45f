/**
 * Keyed digests of text: `hmac` and the encoders of its bytes, `to_base64` and `to_base16`.
 *
 * The parser ensures that bytes go from `hmac` only into an encoder. An encoder accepts text too,
 * as its UTF-8 bytes. Source: contract section 6.
 * @module
 */
import { createHmac } from 'node:crypto'
import { present } from '../../../lib/errors.ts'
import { spend, demandText } from '../run.ts'
import { choiceRule, nameRule, textAt, type FilterDefinition } from './definition.ts'

const algorithms: ReadonlyMap<string, string> = new Map([
  ['sha-1', 'sha1'],
  ['sha-256', 'sha256'],
  ['sha-512', 'sha512'],
])

const stepsPerChar = 4

export const hmac: FilterDefinition = {
  required: [choiceRule([...algorithms.keys()]), nameRule],
  bytes: 'given',
  bind: operands => {
    const algorithm = present(
      algorithms.get(textAt(operands, 0, '')),
      'a rule lets only known algorithms reach this filter',
    )
    const key = textAt(operands, 1, '')
    return (input, run) => {
      if (input === null) return null
      const text = demandText(input, run)
      spend(run, 2_000 + text.length * stepsPerChar)
      return createHmac(algorithm, key).update(text).digest()
    }
  },
}

const encoder = (encode: (bytes: Uint8Array) => string): FilterDefinition => ({
  required: [],
  bytes: 'taken',
  bind: () => (input, run) => {
    if (input === null) return null
    return encode(input instanceof Uint8Array ? input : Buffer.from(demandText(input, run)))
  },
})

export const toBase64 = encoder(bytes => bytes.toBase64())

export const toBase16 = encoder(bytes => bytes.toHex().toUpperCase())
