import { describe, expect, test } from 'bun:test'
import { printHistory, record, type Operation, type Output } from './history.ts'

const asked = { client: 1, part: 'a', op: 'get', in: {} }

const recordOne = async (send: () => Promise<Output | undefined>) => {
  const history: Operation[] = []
  const out = await record(history, asked, send)
  return { history, out, operation: history[0] }
}

describe('a recorded operation', () => {
  test('lasts from before it is sent until after its answer', async () => {
    let sent = 0
    const { out, operation } = await recordOne(async () => {
      sent = Bun.nanoseconds()
      return { status: 200, value: 'v' }
    })
    expect(out).toEqual({ status: 200, value: 'v' })
    expect(operation?.out).toEqual({ status: 200, value: 'v' })
    expect(operation?.call).toBeLessThanOrEqual(sent)
    expect(operation?.return).toBeGreaterThanOrEqual(sent)
    expect(operation?.ended).toBeUndefined()
  })

  test('stays open where no answer came', async () => {
    const { out, operation } = await recordOne(async () => undefined)
    expect(out).toBeUndefined()
    expect(operation).not.toHaveProperty('out')
    expect(operation).not.toHaveProperty('return')
    expect(operation?.ended).toBeGreaterThanOrEqual(operation?.call ?? Infinity)
  })

  test.each([500, 503, 507])('stays open where %i was answered', async status => {
    const { out, operation } = await recordOne(async () => ({ status }))
    expect(out).toBeUndefined()
    expect(operation).not.toHaveProperty('return')
  })

  test('is closed by a refusal', async () => {
    const { operation } = await recordOne(async () => ({ status: 404 }))
    expect(operation?.out).toEqual({ status: 404 })
    expect(operation).not.toHaveProperty('ended')
  })

  test('is there before its answer, so that a run that breaks off shows it', async () => {
    const history: Operation[] = []
    await record(history, asked, async () => {
      expect(history).toHaveLength(1)
      return undefined
    })
    expect(printHistory(history).trimEnd().split('\n')).toHaveLength(1)
  })
})
