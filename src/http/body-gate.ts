/**
 * How many bytes of long bodies are worked on at a time; others wait their turn, with their bytes.
 *
 * A body that is parsed takes up to 60 times its length, where made for that (`[[],[],…`), and
 * lives until its request is answered. Short bodies pass: hardly any are there at a time, and they
 * need not wait behind long ones. Source: contract section 16 (`decision:`).
 * @module
 */
import { parsedBodiesBytesMax, shortBodyBytesMax } from '../limits.ts'

interface Waiting {
  readonly bytes: number
  readonly enter: () => void
}

export interface BodyGate {
  /** Resolves once there is room for a body of that length, in the order of those who ask. */
  readonly enter: (bytes: number) => Promise<void>
  /** Every body that entered leaves once. */
  readonly leave: (bytes: number) => void
}

export function openBodyGate(bytesMax = parsedBodiesBytesMax): BodyGate {
  let inside = 0
  const waiting: Waiting[] = []

  /** Whatever its length, one enters where nobody is. */
  const fits = (bytes: number): boolean => inside === 0 || inside + bytes <= bytesMax

  return {
    async enter(bytes) {
      if (bytes <= shortBodyBytesMax) return
      if (waiting.length > 0 || !fits(bytes)) {
        await new Promise<void>(resolve => waiting.push({ bytes, enter: resolve }))
      } else inside += bytes
    },
    leave(bytes) {
      if (bytes <= shortBodyBytesMax) return
      inside -= bytes
      for (let [next] = waiting; next !== undefined && fits(next.bytes); [next] = waiting) {
        waiting.shift()
        inside += next.bytes
        next.enter()
      }
    },
  }
}
