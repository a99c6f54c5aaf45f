/**
 * A server that is killed while it delivers: each event arrives at least once, and those of one
 * token in their order.
 * @module
 */
import { expect, test } from 'bun:test'
import { expectOrder, openHookedServer } from '../support/hooked-server.ts'
import { until } from '../support/until.ts'

const kills = 3

// proves C18.4
test('no event is lost, and none overtakes another of its token', async () => {
  const hooked = await openHookedServer()
  const { messages } = hooked.receiver
  const done: string[] = []
  for (let run = 0; run < kills; run += 1) {
    const before = messages.length
    let isOver = false
    const working = ['a', 'b'].map(name => hooked.work(`${name}-${run}`, () => isOver))
    await until(() => messages.length >= before + 20)
    await hooked.server().end('SIGKILL')
    isOver = true
    done.push(...(await Promise.all(working)).flat())
    await hooked.start()
  }
  await hooked.receive(done)
  expect(done.length).toBeGreaterThanOrEqual(20)
  expectOrder(hooked.receiver)
  await hooked.end()
}, 300_000)
