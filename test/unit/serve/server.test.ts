/**
 * The socket of an instance with workers. Source: src/server/listen/listening-sockets.ts.
 * @module
 */
import { afterEach, describe, expect, test } from 'bun:test'
import { closeSync } from 'node:fs'
import { openForWorkers } from '../../../src/server/listen/listen.ts'
import type { TcpAddress } from '../../../src/settings/config.ts'

const failureOf = (opened: Promise<unknown>): Promise<unknown> =>
  opened.then(
    () => undefined,
    (error: unknown) => error,
  )

const isInUse = {
  name: 'CommandFailure',
  message: expect.stringMatching(
    /^port \d+ is in use: stop that process or choose another --port$/,
  ) as string,
}

const files: number[] = []
afterEach(() => {
  for (const file of files.splice(0)) closeSync(file)
})

async function open(asked: TcpAddress): Promise<TcpAddress> {
  const { file, address } = await openForWorkers(asked)
  files.push(file)
  return address
}

describe('a socket for workers', () => {
  test('has its port to itself, also while nobody accepts from it', async () => {
    const found = await open({ host: '127.0.0.1', port: 0 })
    expect(found.port).toBeGreaterThan(0)
    Bun.gc(true)
    await Bun.sleep(1)
    expect(await failureOf(open(found))).toMatchObject(isInUse)
    expect(await failureOf(open({ ...found, host: 'localhost' }))).toMatchObject(isInUse)
    const { host: hostname, port } = found
    const share = () => Bun.serve({ hostname, port, reusePort: true, fetch: () => new Response() })
    expect(share).toThrow(expect.objectContaining({ code: 'EADDRINUSE' }))
  })

  test('has its port on its own address alone', async () => {
    const { port } = await open({ host: '127.0.0.1', port: 0 })
    const other = { host: '127.0.0.2', port }
    expect(await open(other)).toEqual(other)
  })

  test('lets callers wait', async () => {
    const { port } = await open({ host: '127.0.0.1', port: 0 })
    const said: string[] = []
    const data = (_: unknown, bytes: Uint8Array) => void said.push(String(bytes))
    const caller = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data } })
    caller.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await Bun.sleep(50)
    expect([said, caller.readyState]).toEqual([[], 1])
    caller.terminate()
  })
})
