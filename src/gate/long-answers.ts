/**
 * A long answer leaves in pieces, each when the connection has taken the one before: so it is known
 * when all of it was sent.
 *
 * Facts about the server: of a stream it takes the next piece only once the connection has taken
 * the last, sends it in chunks whatever length is declared, and cancels it when the connection
 * ends, idle ones included.
 * @module
 */
import { answerPieceBytes } from '../limits.ts'

/** Of answers that nobody ever took: a host may put another in their place, or not read them. */
const untaken = new FinalizationRegistry<() => void>(end => end())

/** @param end called once nobody will read any more of it; more than once is no matter */
export function inPieces(bytes: Uint8Array, end: () => void): ReadableStream<Uint8Array> {
  let sent = 0
  const source = {
    pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      if (sent < bytes.length) {
        controller.enqueue(bytes.subarray(sent, sent + answerPieceBytes))
        sent += answerPieceBytes
        return
      }
      end()
      controller.close()
    },
    cancel: end,
  }
  const stream = new ReadableStream(source, { highWaterMark: 0 })
  untaken.register(stream, end)
  return stream
}
