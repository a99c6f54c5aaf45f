/**
 * Receivers that are now and then slow, refuse, or cut the connection; and what each has taken.
 * @module
 */
import type { ServerResponse } from 'node:http'
import { startWebhookReceiver, type Message } from '../../support/webhook-receiver.ts'
import type { Draw } from '../draw.ts'

/** A message that was taken, but for its sending. */
interface Taken {
  /** Id and type of what it is about. */
  readonly about: string
  /** Place among all that this receiver has taken. */
  readonly at: number
}

export interface MoodyReceiver {
  readonly port: number
  /** By the id of the message; the first of each counts. */
  readonly taken: Map<string, Taken>
  /** Messages that came again, were refused, or were cut off. */
  readonly counts: Record<'again' | 'refused' | 'cut' | 'slow', number>
  /** Ids that came with another text than before. */
  readonly changed: string[]
  /** From now on it takes everything at once. */
  beGood(): void
  readonly [Symbol.dispose]: () => void
}

const slowMsMax = 200

const aboutOf = ({ body: { type, data } }: Message): string =>
  `${data['token']?.id} ${type.slice('token.'.length)}`

export async function startMoodyReceiver(draw: Draw): Promise<MoodyReceiver> {
  const receiver = await startWebhookReceiver()
  const taken = new Map<string, Taken>()
  const counts = { again: 0, refused: 0, cut: 0, slow: 0 }
  const changed: string[] = []
  const refusedOnce = new Set<string>()
  let isGood = false

  function take(message: Message): void {
    const about = aboutOf(message)
    const known = taken.get(message.id)
    if (known === undefined) taken.set(message.id, { about, at: taken.size })
    else if (known.about !== about) changed.push(message.id)
    else counts.again += 1
  }

  function answerMoodily(message: Message, response: ServerResponse): void {
    const mood = isGood ? 100 : draw(100)
    // A message that was refused twice would wait for minutes.
    if (mood < 4 && !refusedOnce.has(message.id)) {
      refusedOnce.add(message.id)
      counts.refused += 1
      response.writeHead(500).end()
      return
    }
    take(message)
    if (mood < 8 && !refusedOnce.has(message.id)) {
      refusedOnce.add(message.id)
      counts.cut += 1
      response.socket?.destroy()
    } else if (mood < 12) {
      counts.slow += 1
      setTimeout(() => response.writeHead(204).end(), draw(slowMsMax))
    } else response.writeHead(204).end()
  }

  receiver.answer = (message, response) => {
    receiver.messages.length = 0
    answerMoodily(message, response)
  }
  return {
    port: receiver.port,
    taken,
    counts,
    changed,
    beGood() {
      isGood = true
    },
    [Symbol.dispose]: receiver[Symbol.dispose],
  }
}
