/**
 * The feed as server-sent events: pages that follow each other on one connection.
 *
 * Its reader is judged anew before each text, and at each look while it waits. A stream ends with
 * the vault, and after a while, so that its reader can move to another process.
 * Source: HTML, "Server-sent events".
 * @module
 */
import type { Deps } from '../deps.ts'
import { invalid } from '../lib/errors.ts'
import type { TextStream } from '../lib/text-stream.ts'
import {
  feedCommentMs,
  feedPieceChars,
  feedRetryMs,
  feedStreamMsMax,
  feedStreamsMax,
  feedStreamsPerCredentialMax,
} from '../limits/limits.ts'
import { printFeedEvent } from './event-body.ts'
import type { VaultEvent } from './event-types.ts'
import { readPage, type FeedCall, type FeedPage, type FeedRequest } from './feed.ts'
import type { LookAtLog } from './log-looks.ts'
import { boundReaders } from './feed-readers.ts'

/**
 * The last event of an entry has its sequence as id, and those before it none: a reader that is cut
 * off between them is told the whole entry again.
 */
function printEvent(event: VaultEvent, following: VaultEvent | undefined): string {
  const { sequence, type } = event
  const id = following?.sequence === sequence ? '' : `id: ${sequence}\n`
  return `${id}event: ${type}\ndata: ${printFeedEvent(event)}\n\n`
}

/** Prints a page in texts of a bounded length, each only when it is asked for. */
function* printPage(request: FeedRequest, page: FeedPage): Generator<string, void> {
  const { events } = page
  let text = printMissed(request, page)
  for (const [at, event] of events.entries()) {
    text += printEvent(event, events[at + 1])
    if (text.length < feedPieceChars) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

/** Tells a reader who waits that all is well, and how far the vault has looked. */
const printComment = (next: number): string =>
  next === 0 ? ': waiting\n\n' : `: waiting\nid: ${next - 1}\n\n`

/** Tells a reader that it has missed entries, which were removed for their age. */
function printMissed({ from }: FeedRequest, { oldest }: FeedPage): string {
  const isMissed = from > 0 && from < oldest
  const data = JSON.stringify({ type: 'events.missed', oldest })
  return isMissed ? `event: events.missed\ndata: ${data}\n\n` : ''
}

async function* printAll(
  deps: Deps,
  look: LookAtLog,
  call: FeedCall,
  request: FeedRequest,
): AsyncGenerator<string, void> {
  const endMs = deps.elapsedMs() + feedStreamMsMax
  let toldMs = deps.elapsedMs()
  const mayGoOn = (): boolean => !call.isEnding() && deps.elapsedMs() < endMs
  const isQuiet = (): boolean => deps.elapsedMs() - toldMs >= feedCommentMs
  yield `: begun\nretry: ${feedRetryMs}\n\n`
  for (let { from } = request; mayGoOn();) {
    const asked = { ...request, from }
    const page = await readPage(deps, call, asked)
    from = page.next
    for (const text of printPage(asked, page)) {
      // Its key may have been revoked while the page was read, or the text before was taken.
      await call.assertStillPermitted()
      if (call.isEnding()) return
      toldMs = deps.elapsedMs()
      yield text
    }
    if (isQuiet()) {
      await call.assertStillPermitted()
      toldMs = deps.elapsedMs()
      yield printComment(from)
    }
    for (let head = page.events.length > 0 ? Infinity : from; head <= from && mayGoOn();) {
      if (isQuiet()) break
      head = await look()
      await call.assertStillPermitted()
    }
  }
}

/** Returns what begins a stream, and bounds those that are open at a time. */
export function makeFeedStream(deps: Deps, look: LookAtLog) {
  const max = { own: feedStreamsPerCredentialMax, all: feedStreamsMax }
  const enter = boundReaders(max, 'open streams of events')
  return async (call: FeedCall, request: FeedRequest): Promise<TextStream> => {
    const { next } = await deps.store.logRange()
    if (request.from > next) {
      throw invalid('last_event_id', 'expected the id of an event of this vault')
    }
    const leave = enter(call.caller)
    let isEnded = false
    const isEnding = (): boolean => isEnded || call.isEnding()
    const texts = printAll(deps, look, { ...call, isEnding }, request)
    return {
      next: async () => (await texts.next()).value ?? undefined,
      end() {
        isEnded = true
        leave()
      },
    }
  }
}
