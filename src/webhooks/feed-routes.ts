/**
 * The feed of events over HTTP: one JSON text a line, or server-sent events.
 * @module
 */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { operation, type OperationCall, type Reply } from '../http/operation.ts'
import type { Pipeline } from '../http/pipeline.ts'
import type { QueryParameters } from '../http/request.ts'
import { routeOf } from '../http/routes.ts'
import { invalid } from '../lib/errors.ts'
import { closed, oneOf } from '../lib/schemas.ts'
import { feedWaitSecondsMax, sequenceMax } from '../limits/limits.ts'
import { reserveText } from '../records/budgeted.ts'
import { printFeedEvent } from './event-body.ts'
import { eventTypes, type VaultEventType } from './event-types.ts'
import { makeFeed, type FeedPage } from './feed.ts'
import { makeFeedStream } from './feed-stream.ts'
import { makeLogLooks } from './log-looks.ts'

const feedQuery = Type.Object(
  {
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: sequenceMax,
        description: 'The last line of the page before tells it. Absent: from the oldest on.',
        examples: [4711],
      }),
    ),
    types: Type.Optional(
      Type.String({
        description: 'Types of events, comma-separated. Absent: all.',
        examples: ['token.created,token.deleted'],
      }),
    ),
    wait: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: feedWaitSecondsMax,
        default: 0,
        description: 'Seconds for which a page waits that would hold no event.',
        examples: [20],
      }),
    ),
  },
  closed,
)

const lineSchema = Type.Object(
  {
    sequence: Type.Optional(Type.Integer({ description: 'Of its entry in the audit log.' })),
    id: Type.Optional(Type.String()),
    type: Type.Union([oneOf(eventTypes, 'EventType'), Type.Literal('page.end')]),
    timestamp: Type.Optional(Type.String({ format: 'date-time' })),
    tenant_id: Type.Optional(Type.String({ format: 'uuid' })),
    trace_id: Type.Optional(Type.String()),
    data: Type.Optional(Type.Unknown({ description: 'The thing and who did it, by their ids.' })),
    after: Type.Optional(Type.Integer({ description: 'For the next page; in the last line.' })),
    oldest: Type.Optional(
      Type.Integer({ description: 'The oldest entry kept; in the last line.' }),
    ),
  },
  { title: 'EventLine' },
)

const lineExamples = {
  event: {
    sequence: 4711,
    id: '4711_0_5f0c2a9e',
    type: 'token.created',
    timestamp: '2026-03-01T08:20:00.000+00:00',
    tenant_id: '77cb0024-123e-41a8-8ff8-a3d5a0fa8a08',
    trace_id: 'checkout-4711',
    data: {
      token: { id: 'c06d0789-0a38-40be-b7cc-c28a718f76f1' },
      actor: { id: '0e3a9d3c-5d0f-4ac5-b4cb-3f0f2c7c5a44', type: 'private' },
    },
  },
  last: { type: 'page.end', after: 4711, oldest: 0 },
}

const streamedData = JSON.stringify(lineExamples.event)
const streamedEvent = `id: 4711\nevent: token.created\ndata: ${streamedData}\n\n`

function readNumber(text: string | undefined, place: string, max: number): number | undefined {
  if (text === undefined) return undefined
  const value = /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY
  if (value <= max) return value
  throw invalid(place, `expected an integer from 0 to ${max}`)
}

const numberIn = (query: QueryParameters, name: string, max: number): number | undefined =>
  readNumber(query.get(name)?.[0], `query.${name}`, max)

const isType = (text: string): text is VaultEventType => eventTypes.some(type => type === text)

function typesIn(query: QueryParameters): ReadonlySet<VaultEventType> | undefined {
  const texts = query.get('types')?.flatMap(text => text.split(','))
  if (texts === undefined) return undefined
  if (texts.every(isType)) return new Set(texts)
  throw invalid('query.types', 'expected types of events, comma-separated')
}

function printLines({ events, next, oldest }: FeedPage): string {
  // An empty log has no entry to go on from.
  const after = next === 0 ? undefined : next - 1
  const last = JSON.stringify({ type: 'page.end', after, oldest })
  return `${[...events.map(printFeedEvent), last].join('\n')}\n`
}

interface Feed {
  readonly readPage: ReturnType<typeof makeFeed>
  readonly begin: ReturnType<typeof makeFeedStream>
}

async function read({ readPage, begin }: Feed, call: OperationCall): Promise<Reply> {
  const { caller, query, streamed } = call
  const waitMs = (numberIn(query, 'wait', feedWaitSecondsMax) ?? 0) * 1_000
  const last = readNumber(streamed?.lastEventId, 'last_event_id', sequenceMax)
  const after = last ?? numberIn(query, 'after', sequenceMax)
  const request = { from: after === undefined ? 0 : after + 1, types: typesIn(query) }
  if (streamed !== undefined) return { status: 200, stream: await begin(call, request) }
  const json = printLines(await readPage(call, { ...request, waitMs }))
  reserveText(caller, json)
  return { status: 200, json, isLines: true }
}

function listEvents(deps: Deps) {
  const look = makeLogLooks(deps)
  const feed = { readPage: makeFeed(deps, look), begin: makeFeedStream(deps, look) }
  return operation({
    name: 'listEvents',
    method: 'GET',
    path: '/events',
    readsPages: true,
    summary: 'Read events in their order, and wait for the next',
    permission: 'log:read',
    query: feedQuery,
    description:
      'With `Accept: text/event-stream` events are sent as they come: each with its `type` as ' +
      '`event` and a line of a page as `data`. A stream begins behind `Last-Event-ID`, or behind ' +
      '`after`, and ends after some minutes: ask again.',
    success: {
      status: 200,
      schema: lineSchema,
      examples: lineExamples,
      isLines: true,
      streamExample: streamedEvent,
    },
    failures: [400, 401, 403],
    run: call => read(feed, call),
  })
}

export const feedRoutes = (deps: Deps, pipeline: Pipeline) =>
  new Elysia().route(...routeOf(pipeline, listEvents(deps)))
