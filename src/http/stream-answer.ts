/**
 * An answer that goes on for minutes: each text leaves when there is one, and when the connection
 * has taken the one before. Its request is under way until it ends.
 *
 * Facts about the server: it cancels a stream whose connection has ended, or has taken nothing for
 * as long as connections may idle.
 * @module
 */
import { idleSecondsMax } from '../limits/limits.ts'
import { utf8 } from '../lib/bytes.ts'
import type { TextStream } from '../lib/text-stream.ts'
import type { Exchange } from './exchange.ts'
import type { InFlight } from './in-flight.ts'
import type { KeepAlive } from './keep-alive.ts'

/** Ends streams that are never read: a host may replace or drop their answers. */
const untaken = new FinalizationRegistry<() => void>(end => end())

/** Seconds until a connection ends that takes nothing, when the vault ends. */
const cutSeconds = 1

/** Makes the body of an answer, which holds its place in `inFlight` until it ends. */
export function startStream(
  { inFlight, keepAlive }: { readonly inFlight: InFlight; readonly keepAlive: KeepAlive },
  x: Exchange,
  source: TextStream,
): ReadableStream<Uint8Array> {
  const { request, server } = x
  let isAsked = false
  let isOver = false

  function end(): void {
    if (isOver) return
    isOver = true
    source.end()
    x.answerLease?.release()
    inFlight.leave(x)
  }

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    isAsked = true
    const text = isOver ? undefined : await source.next().catch(() => undefined)
    isAsked = false
    if (text !== undefined) return controller.enqueue(utf8(text))
    end()
    keepAlive.extend({ request, server })
    controller.close()
  }

  x.isInPieces = true
  x.endStream = () => {
    source.end()
    // Its connection takes nothing, so that nobody asks for the next text.
    if (isAsked || isOver) return
    end()
    server?.timeout(request, cutSeconds)
  }
  server?.timeout(request, idleSecondsMax)
  request.signal.addEventListener('abort', end)
  const stream = new ReadableStream({ pull, cancel: end }, { highWaterMark: 0 })
  untaken.register(stream, end)
  return stream
}
