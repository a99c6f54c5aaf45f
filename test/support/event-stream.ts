/**
 * A reader of server-sent events, as the HTML standard says it: by fetch, so that it can send a
 * key.
 * @module
 */

interface SentEvent {
  readonly type: string
  /** Id of the last event that had one. */
  readonly lastEventId: string
  readonly data: unknown
}

export interface EventReader {
  readonly events: SentEvent[]
  readonly comments: string[]
  /** Also those of blocks without data. */
  readonly lastEventId: () => string
  /** Resolves once no more comes. */
  readonly ended: Promise<void>
  /** Closes the connection. */
  readonly close: () => void
}

type Fields = ReadonlyMap<string, string>

const fieldsOf = (block: string): Fields =>
  new Map(
    block.split('\n').map(line => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()] as const
    }),
  )

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'>

async function* blocksOf(reader: Reader): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let text = ''
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    text += decoder.decode(read.value, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    yield* blocks
  }
}

export function readEvents({ body }: Response): EventReader {
  if (body === null) throw new Error('an answer without a body')
  const events: SentEvent[] = []
  const comments: string[] = []
  let lastEventId = ''
  const reader: Reader = body.getReader()
  async function readAll(): Promise<void> {
    for await (const block of blocksOf(reader)) {
      const fields = fieldsOf(block)
      lastEventId = fields.get('id') ?? lastEventId
      const [comment, data] = [fields.get(''), fields.get('data')]
      if (comment !== undefined) comments.push(comment)
      if (data === undefined) continue
      events.push({ type: fields.get('event') ?? 'message', lastEventId, data: JSON.parse(data) })
    }
  }
  return {
    events,
    comments,
    lastEventId: () => lastEventId,
    ended: readAll().catch(() => {}),
    close: () => void reader.cancel(),
  }
}
