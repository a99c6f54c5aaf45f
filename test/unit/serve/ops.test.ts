/**
 * The listener for health and metrics, with numbers that are printed when the test says.
 * @module
 */
import { afterEach, expect, test } from 'bun:test'
import { startOps, type OpsServer } from '../../../src/server/watch/ops.ts'
import type { ProcessReport } from '../../../src/server/watch/process-report.ts'

const numbers = (help: string) => [
  [{ name: 'told', help, type: 'gauge', aggregator: 'max', values: [{ labels: {}, value: 1 }] }],
]

const toldBy = (ask: ProcessReport['numbers']): ProcessReport => ({
  failing: () => [],
  isAlive: () => true,
  numbers: ask,
})

let ops: OpsServer
afterEach(() => ops.stop())

test('the numbers are printed once for all who ask meanwhile, and anew for the next', async () => {
  const begun: ((text: string) => void)[] = []
  const told = toldBy(async () => {
    const { promise, resolve } = Promise.withResolvers<string>()
    begun.push(resolve)
    return numbers(await promise)
  })
  ops = startOps({ host: '127.0.0.1', port: 0 }, told)
  const ask = async () => {
    const text = await (await fetch(`${ops.address}/metrics`)).text()
    return /^# HELP told (\w+)$/m.exec(text)?.[1]
  }
  const asked = [ask(), ask(), ask()]
  while (begun.length === 0) await Bun.sleep(1)
  // A later question on the same listener is answered, so those before it have been taken.
  await fetch(`${ops.address}/healthz`)
  await Bun.sleep(50)
  expect(begun.length).toBe(1)
  begun[0]?.('first')
  expect(await Promise.all(asked)).toEqual(['first', 'first', 'first'])
  const next = ask()
  while (begun.length === 1) await Bun.sleep(1)
  begun[1]?.('second')
  expect(await next).toBe('second')
})

test('addresses are taken with a slash at their end, and with nothing else', async () => {
  const told = toldBy(() => Promise.reject(new Error()))
  ops = startOps({ host: '127.0.0.1', port: 0 }, told)
  const statusOf = async (path: string) => (await fetch(`${ops?.address}${path}`)).status
  expect(await statusOf('/healthz/')).toBe(200)
  expect(await statusOf('/readyz/?from=probe')).toBe(200)
  expect(await statusOf('/healthz//')).toBe(404)
  expect(await statusOf('/')).toBe(404)
})

test('one that failed is not kept: the next is printed anew', async () => {
  let count = 0
  const told = toldBy(async () => {
    count += 1
    if (count === 1) throw new Error('no numbers')
    return numbers('text')
  })
  ops = startOps({ host: '127.0.0.1', port: 0 }, told)
  expect((await fetch(`${ops.address}/metrics`)).status).toBe(500)
  expect(await (await fetch(`${ops.address}/metrics`)).text()).toContain('told 1')
})

test('a name that it was given as its host is its own, and no other name is', async () => {
  // A name that every resolver knows, and no address as the listener reads one.
  ops = startOps(
    { host: '127.1', port: 0 },
    toldBy(async () => []),
  )
  const { port } = new URL(ops.address)
  const statusFor = async (host: string) =>
    (await fetch(`http://127.0.0.1:${port}/healthz`, { headers: { host } })).status
  expect(await statusFor('127.1')).toBe(200)
  expect(await statusFor(`127.1:${port}`)).toBe(200)
  expect(await statusFor('127.2')).not.toBe(200)
  expect(await statusFor('evil.example')).toBe(421)
  expect(await statusFor('[127.1]')).toBe(421)
})

test('a worker that does not answer is told of, and the vault is not alive', async () => {
  const told = { ...toldBy(async () => []), isAlive: () => false, failing: () => ['workers'] }
  ops = startOps({ host: '127.0.0.1', port: 0 }, told)
  const ask = async (path: string) => {
    const answer = await fetch(ops.address + path)
    return [answer.status, await answer.text()]
  }
  expect(await ask('/healthz')).toEqual([503, 'a worker does not answer\n'])
  expect(await ask('/readyz')).toEqual([503, 'not ready: workers\n'])
})
