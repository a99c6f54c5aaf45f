/**
 * Copies of checkpoints: how often they are sent, and what is told of those that are not.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { checkpointCopyMs } from '../../../../src/limits/operation-limits.ts'
import { makeCheckpointCopies } from '../../../../src/server/backup/checkpoint-copies.ts'
import { CommandFailure } from '../../../../src/server/process/failure.ts'

const checkpoint = (size: number) => ({ origin: 'coffer/1', size, note: `note ${size}` })

/** @param fails whether the next one is refused; set by a test */
function open() {
  const state = { ms: 0, fails: false, isSlow: false }
  const sent: number[] = []
  const events: (readonly [string, unknown])[] = []
  const slow = Promise.withResolvers<void>()
  const copies = makeCheckpointCopies(
    {
      async put({ size }) {
        sent.push(size)
        if (state.isSlow) await slow.promise
        if (state.fails) throw new CommandFailure('there is no such bucket: make it first')
      },
    },
    { elapsedMs: () => state.ms, log: (event, facts) => void events.push([event, facts]) },
  )
  const offer = async (size: number, afterMs: number): Promise<void> => {
    state.ms += afterMs
    copies.offer(checkpoint(size))
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
  }
  return { state, sent, events, copies, offer, finish: slow.resolve }
}

describe('copies of checkpoints', () => {
  test('the first is sent at once, and then one in each interval, the newest', async () => {
    const { sent, copies, offer } = open()
    await offer(1, 0)
    await offer(2, checkpointCopyMs - 1)
    await offer(3, 1)
    await offer(4, 1)
    expect(sent).toEqual([1, 3])
    expect(copies.counts()).toEqual({ kept: 2, failed: 0 })
  })

  test('none is sent while another is under way', async () => {
    const { state, sent, copies, offer, finish } = open()
    state.isSlow = true
    await offer(1, 0)
    await offer(2, 3 * checkpointCopyMs)
    expect([sent, copies.counts()]).toEqual([[1], { kept: 0, failed: 0 }])
    finish()
    await offer(3, checkpointCopyMs)
    expect(sent).toEqual([1])
    await offer(4, checkpointCopyMs)
    expect(sent).toEqual([1, 4])
  })

  test('a failure is logged once with its reason and counted, and its end is told', async () => {
    const { state, events, copies, offer } = open()
    state.fails = true
    await offer(1, 0)
    await offer(2, checkpointCopyMs)
    state.fails = false
    await offer(3, checkpointCopyMs)
    await offer(4, checkpointCopyMs)
    const reason = 'there is no such bucket: make it first'
    expect(events).toEqual([
      ['audit_copy_failed', { reason }],
      ['audit_copy_made', undefined],
    ])
    expect(copies.counts()).toEqual({ kept: 2, failed: 2 })
  })
})
