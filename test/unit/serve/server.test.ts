/**
 * The port of an instance with workers. Source: src/server/process/server.ts.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { findPort } from '../../../src/server/listen/listen.ts'

const failureOf = (found: Promise<unknown>): Promise<unknown> =>
  found.then(
    () => undefined,
    (error: unknown) => error,
  )

const isInUse = {
  name: 'CommandFailure',
  message: expect.stringMatching(
    /^port \d+ is in use: stop that process or choose another --port$/,
  ) as string,
}

describe('a port for processes that share it', () => {
  test('is of the process that found it, also while nobody listens there', async () => {
    const found = await findPort({ host: '127.0.0.1', port: 0 })
    expect(found.port).toBeGreaterThan(0)
    Bun.gc(true)
    expect(await failureOf(findPort(found))).toMatchObject(isInUse)
    expect(await failureOf(findPort({ ...found, host: 'localhost' }))).toMatchObject(isInUse)
  })

  test('is one with its address: on another one it is another port', async () => {
    const { port } = await findPort({ host: '127.0.0.1', port: 0 })
    const other = { host: '127.0.0.2', port }
    expect(await findPort(other)).toEqual(other)
  })

  test('is left to be listened on, by several', async () => {
    const { host: hostname, port } = await findPort({ host: '127.0.0.1', port: 0 })
    const fetch = () => new Response()
    const servers = [1, 2].map(() => Bun.serve({ hostname, port, reusePort: true, fetch }))
    expect(servers.map(server => server.port)).toEqual([port, port])
    await Promise.all(servers.map(server => server.stop(true)))
  })
})
