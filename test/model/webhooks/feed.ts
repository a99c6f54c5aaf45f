/**
 * The feed of events, which tells all of the tenant in the order of the log: source C18.12.
 * @module
 */
import { expect } from 'bun:test'
import { learnId, showEvent } from './messages.ts'
import type { Server } from './server.ts'
import { sequenceOf, type Model } from './state.ts'

interface Line {
  readonly type: string
  readonly id: string
  readonly after: number
}

/** Reads to the end of the feed. @returns its events, and the place behind them */
async function readFeed(server: Server, from: number) {
  const { key } = server.keys.manager
  const lines: Line[] = []
  await server.vault().deps.audit.flush()
  for (let after = from; ;) {
    const { status, text } = await server.send(key, 'GET', `/events?after=${after}`)
    expect(status).toBe(200)
    const page: readonly Line[] = text
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    lines.push(...page.slice(0, -1))
    const end = page.at(-1)
    expect(end?.type).toBe('page.end')
    if (page.length === 1) return { lines, after: end?.after ?? after }
    after = end?.after ?? after
  }
}

/** Compares all events since the last reading, and learns their ids. */
export async function learnFeed(model: Model, server: Server): Promise<void> {
  const { lines, after } = await readFeed(server, model.feedAfter)
  const expected = model.events.slice(model.fed)
  expected.forEach((event, place) => learnId(model, event, String(lines[place]?.id)))
  expect(lines).toEqual(
    expected.map(event => ({ sequence: sequenceOf(event), ...showEvent(model, event) }) as never),
  )
  model.feedAfter = after
  model.fed = model.events.length
}

/** Passes over the events of the making of a tenant. */
export async function passMaking(model: Model, server: Server): Promise<void> {
  model.feedAfter = (await readFeed(server, model.feedAfter)).after
}
