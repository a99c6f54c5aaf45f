/**
 * Several processes over one store: one of them delivers, and when it is killed the next one goes
 * on. Over a folder, and over PostgreSQL.
 * @module
 */
import { expect, test } from 'bun:test'
import { expectOrder, openHookedServer } from '../support/hooked-server.ts'
import { storePlaces } from '../support/store-places.ts'
import { until } from '../support/until.ts'
import { workerAfter, workersOf } from '../support/worker-processes.ts'

const workers = 3

// proves C18.4
test.each(storePlaces)(
  'workers over %s deliver each event once, and go on when any is killed',
  async (_, storeOf) => {
    const serve = ['--workers', String(workers)]
    const hooked = await openHookedServer({ init: await storeOf(), serve })
    const { messages } = hooked.receiver
    let isOver = false
    const calm = ['a', 'b', 'c'].map(name => hooked.work(name, () => isOver))
    await until(() => messages.length >= 60)
    isOver = true
    const done = (await Promise.all(calm)).flat()
    await hooked.receive(done)
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)

    isOver = false
    const working = ['d', 'e', 'f'].map(name => hooked.work(name, () => isOver))
    const { pid } = hooked.server()
    for (let index = 0; index < workers; index += 1) {
      const before = messages.length
      await until(() => messages.length >= before + 20)
      const worker = workersOf(pid).get(index) ?? pid
      process.kill(worker, 'SIGKILL')
      await workerAfter(pid, index, worker)
    }
    isOver = true
    done.push(...(await Promise.all(working)).flat())
    await hooked.receive(done)
    expectOrder(hooked.receiver)
    await hooked.end()
  },
  300_000,
)
