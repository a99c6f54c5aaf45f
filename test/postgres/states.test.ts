/**
 * Log of a database that goes and comes back, by one process and by three.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { startProxy } from '../support/cutting-proxy.ts'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { startLogged } from '../support/logged.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const pair = ['database_gone', 'database_back']

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a database that does not answer for a while', () => {
  test.each([1, 3])(
    'is logged once by each of %d processes, and once again when it does',
    async workers => {
      const { socket } = await sharedPostgres()
      const proxy = startProxy({ unix: socket })
      const data = join(temporaryFolder(), 'v')
      const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres?schema=${nextSchema()}`
      expect(await runCoffer(['init', '--data', data, '--store', url])).toMatchObject({
        exitCode: 0,
      })
      const words = ['serve', '--data', data, '--port', '0', '--workers', String(workers)]
      const { server, lines } = await startLogged(words)
      const states = () => lines().filter(({ event }) => pair.includes(String(event)))
      proxy.mute(true)
      await until(() => states().length === workers)
      proxy.mute(false)
      await until(() => states().length === 2 * workers)
      expect(await server.end('SIGTERM')).toBe(0)
      proxy.stop()
      const told = states().map(({ event, worker = 0 }) => `${String(worker)} ${String(event)}`)
      const each = Array.from({ length: workers }, (_, worker) =>
        pair.map(event => `${worker} ${event}`),
      )
      expect(told.toSorted()).toEqual(each.flat().toSorted())
      expect(states()).toMatchObject([
        ...Array.from({ length: workers }, () => ({ event: pair[0], level: 'error' })),
        ...Array.from({ length: workers }, () => ({ event: pair[1], level: 'info' })),
      ])
      const [started] = lines().filter(({ event }) => event === 'started')
      expect(started).toMatchObject({ workers, rows: expect.any(Number) })
    },
    300_000,
  )
})
