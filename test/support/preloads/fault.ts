/**
 * Runs before the command line of a test: causes a fault on SIGUSR2, or breaks something for the
 * self-test to find. `FAULT` selects it, `FAULT_TEXT` is its text.
 * @module
 */
import { EventEmitter } from 'node:events'
const text = process.env['FAULT_TEXT'] ?? ''

/** A message whose second line looks like a stack. */
const fault = () => new TypeError(`${text}\n    at ${text} (${text}.ts:1:1)`)

const faults: Readonly<Record<string, () => void>> = {
  'a rejection': () => void Promise.reject(fault()),
  'a rejection without an error': () => void Promise.reject(text),
  'an exception': () => {
    throw fault()
  },
  'an exception without an error': () => {
    throw { name: text, message: text }
  },
  'a microtask': () =>
    queueMicrotask(() => {
      throw fault()
    }),
  'an error event': () => new EventEmitter().emit('error', fault()),
}

const name = process.env['FAULT'] ?? ''
if (name === 'a wrong digest') {
  const prototype = Bun.CryptoHasher.prototype as { digest: () => Buffer }
  const { digest } = prototype
  prototype.digest = function (this: unknown) {
    return Buffer.from(digest.call(this)).reverse()
  }
} else {
  process.on('SIGUSR2', () => faults[name]?.())
}
