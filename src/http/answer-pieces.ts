/**
 * A long answer leaves in pieces, each when the connection has taken the one before: so it is known
 * when all of it was sent.
 *
 * Facts about the server: of a stream it takes the next piece only once the connection has taken
 * the last, sends it in chunks whatever length is declared, and cancels it when the connection
 * ends, idle ones included.
 * @module
 */
import { answerPieceBytes } from '../limits/limits.ts'
import type { MaybeLater } from '../lib/waiting.ts'

/** Ends answers that are never read: a host may replace or drop them. */
const untaken = new FinalizationRegistry<() => void>(end => end())

/**
 * @param end called once nobody will read any more of it; may be called again
 * @param next resolves when one more piece may leave; absent where none waits for that
 * @param onTaken called once the connection has taken all but the last piece
 */
export function inPieces(
  bytes: Uint8Array,
  end: () => void,
  next?: () => Promise<void>,
  onTaken: () => void = () => {},
): ReadableStream<Uint8Array> {
  let sent = 0
  let isEnded = false
  const stop = (): void => {
    isEnded = true
    end()
  }
  const send = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    if (isEnded) return
    controller.enqueue(bytes.subarray(sent, sent + answerPieceBytes))
    sent += answerPieceBytes
  }
  const source = {
    pull(controller: ReadableStreamDefaultController<Uint8Array>): MaybeLater<void> {
      if (sent < bytes.length) {
        return next === undefined ? send(controller) : next().then(() => send(controller))
      }
      stop()
      onTaken()
      controller.close()
    },
    cancel: stop,
  }
  const stream = new ReadableStream(source, { highWaterMark: 0 })
  untaken.register(stream, end)
  return stream
}
