/**
 * Lines of the request log, whatever the line before.
 * @module
 */
import { expect, test } from 'bun:test'
import type { AnswerEvent, SeenMore } from '../../../src/deps.ts'
import { makeRequestLog } from '../../../src/server/watch/request-log.ts'
import { defaultLogSettings } from '../../../src/settings/serving-settings.ts'

interface Told {
  readonly seen?: Partial<AnswerEvent>
  readonly more?: Partial<SeenMore>
  /** Members of its line that other lines do not have. */
  readonly members: Readonly<Record<string, unknown>>
}

const nothing: SeenMore = { clientAddress: undefined, tokenDigest: undefined, objectId: undefined }
const plain: Omit<AnswerEvent, 'more'> = {
  traceId: 'made-1',
  isTraceMade: true,
  method: 'GET',
  route: '/tokens/:id',
  operation: 'getToken',
  status: 200,
  refusal: undefined,
  startedMs: 0,
  bytesIn: 0,
  bytesOut: 412,
  caller: undefined,
  shown: undefined,
}
const common = {
  level: 'info',
  event: 'request',
  trace_id: 'made-1',
  method: 'GET',
  route: '/tokens/:id',
  operation: 'getToken',
  status: 200,
  bytes_in: 0,
  bytes_out: 412,
}
const one = { applicationId: 'a-1', keyId: 'k-1' } as const
const other = { applicationId: 'a-1', keyId: 'k-2', sessionId: 's-1' } as const

const told: readonly Told[] = [
  {
    seen: { caller: one, shown: { reveal: 1, mask: 0, redact: 0 } },
    more: { clientAddress: '192.0.2.1', tokenDigest: 'd-1' },
    members: {
      client_address: '192.0.2.1',
      application_id: 'a-1',
      key_id: 'k-1',
      token_digest: 'd-1',
      shown: { reveal: 1 },
    },
  },
  {
    seen: { caller: other, shown: { reveal: 0, mask: 2, redact: 3 } },
    more: { clientAddress: '192.0.2.1', tokenDigest: 'd-2' },
    members: {
      client_address: '192.0.2.1',
      application_id: 'a-1',
      key_id: 'k-2',
      session_id: 's-1',
      token_digest: 'd-2',
      shown: { mask: 2, redact: 3 },
    },
  },
  {
    seen: { caller: one },
    more: { clientAddress: '192.0.2.2' },
    members: { client_address: '192.0.2.2', application_id: 'a-1', key_id: 'k-1' },
  },
  {
    seen: { status: 401, refusal: 'unauthenticated', operation: undefined },
    members: { level: 'warning', status: 401, operation: undefined, refusal: 'unauthenticated' },
  },
  { seen: { status: 401, refusal: 'unauthenticated', route: undefined }, members: {} },
  { members: {} },
]

test('each tells of its own request alone, in any order', () => {
  const lines: string[] = []
  let nowMs = 0
  const place = { wallMs: () => nowMs, isTerminal: false, isJournal: false }
  const write = (line: string) => lines.push(line)
  const parts = { ...place, write, elapsedMs: () => nowMs / 1_000 }
  const log = makeRequestLog({ ...defaultLogSettings, logRequests: 'all' }, parts)
  const order = [...told, ...told.toReversed(), ...told]
  for (const { seen, more } of order) {
    nowMs += 70
    log?.({ ...plain, ...seen, more: () => ({ ...nothing, ...more }) })
  }
  const expected = order.map(({ seen = {}, members }, at) => ({
    ...common,
    ...('route' in seen ? { ...members, level: 'warning', status: 401, route: null } : members),
    ...(seen.refusal === undefined ? {} : { refusal: seen.refusal }),
    time: new Date(70 * (at + 1)).toISOString(),
    duration_ms: (70 * (at + 1)) / 1_000,
  }))
  expect(lines.map(line => JSON.parse(line) as unknown)).toEqual(expected)
  expect(lines.every(line => line.endsWith('}\n'))).toBe(true)
})
