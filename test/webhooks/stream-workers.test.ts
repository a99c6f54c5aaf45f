/**
 * Streams of events from several processes over one store, a folder or PostgreSQL: each sends what
 * any of them writes, and all end with the server.
 * @module
 */
import { expect, test } from 'bun:test'
import { readEvents, type EventReader } from '../support/event-stream.ts'
import { openHookedServer, type HookedServer } from '../support/hooked-server.ts'
import { storePlaces } from '../support/store-places.ts'
import { until } from '../support/until.ts'

const streamsPerRound = 4

async function open({ address, manager }: HookedServer, after: string): Promise<EventReader> {
  const response = await fetch(`${address()}/events?types=token.created,token.deleted`, {
    keepalive: false,
    headers: {
      accept: 'text/event-stream',
      'svc-api-key': manager,
      ...(after === '' ? {} : { 'last-event-id': after }),
    },
  })
  expect(response.status).toBe(200)
  return readEvents(response)
}

const aboutOf = ({ events }: EventReader): readonly string[] =>
  events.map(({ type, data }) => {
    const { token } = (data as { data: { token: { id: string } } }).data
    return `${token.id} ${type}`
  })

const holds = (stream: EventReader, done: readonly string[]): boolean => {
  const there = new Set(aboutOf(stream))
  return done.every(each => there.has(each))
}

// proves C18.14, C18.15
test.each(storePlaces)(
  'over %s, each sends what all write, goes on elsewhere, and ends with the server',
  async (_, storeOf) => {
    const hooked = await openHookedServer({ init: await storeOf(), serve: ['--workers', '3'] })
    const openAll = (after: string): Promise<EventReader[]> =>
      Promise.all(Array.from({ length: streamsPerRound }, () => open(hooked, after)))
    async function work(name: string): Promise<readonly string[]> {
      let isOver = false
      const working = ['a', 'b', 'c'].map(each => hooked.work(`${name}-${each}`, () => isOver))
      await until(() => hooked.receiver.messages.length >= 30)
      isOver = true
      return (await Promise.all(working)).flat()
    }

    const streams = await openAll('')
    const done = await work('first')
    await until(() => streams.every(stream => holds(stream, done)))
    const [told] = streams.map(aboutOf)
    for (const stream of streams) {
      expect(aboutOf(stream)).toEqual(told ?? [])
      stream.close()
    }

    const last = streams[0]?.lastEventId() ?? ''
    const next = await openAll(last)
    hooked.receiver.messages.length = 0
    const more = await work('second')
    await until(() => next.every(stream => holds(stream, more)))
    for (const stream of next) expect(aboutOf(stream).some(each => done.includes(each))).toBe(false)
    await hooked.end()
    await Promise.all(next.map(({ ended }) => ended))
  },
  300_000,
)
