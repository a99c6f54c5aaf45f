/**
 * The ports of a vault are its own: no other program of its user listens beside it, whatever
 * happens to its workers and certificates. Source: docs/decisions.md, "Beyond one machine".
 * @module
 */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { connect } from 'node:net'
import { listenBeside } from '../support/listen-beside.ts'
import { askOwn, beginLoad } from '../support/load.ts'
import { shakeHands, startTlsServer } from '../support/tls-server.ts'
import { until } from '../support/until.ts'
import { workerAfter, workersOf } from '../support/worker-processes.ts'

// Each starts several processes, on machines that may be slow.
setDefaultTimeout(300_000)

const started: { readonly end: (signal: NodeJS.Signals) => Promise<number> }[] = []
afterAll(async () => {
  await Promise.all(started.map(server => server.end('SIGKILL')))
})

const connects = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

/** Tries to listen beside a vault and to connect to it, on and on, and counts what must not be. */
function beginTrials(ports: readonly number[]): () => Promise<object> {
  const worked = new Set<string>()
  let [tries, refused] = [0, 0]
  let isOver = false
  const all = (async () => {
    while (!isOver) {
      for (const way of ports.flatMap(listenBeside)) worked.add(way)
      if (!(await connects(ports[0] ?? 0))) refused += 1
      tries += 1
      await Bun.sleep(1)
    }
  })()
  return async () => {
    isOver = true
    await all
    return { worked: [...worked], refused, hasTried: tries > 0 }
  }
}

const nothingWorked = { worked: [], refused: 0, hasTried: true }

// proves H172, S36
test.each([
  ['one process', 1],
  ['three workers', 3],
])('nobody listens beside %s', async (_, workers) => {
  const args = ['--ops-port', '0', ...(workers === 1 ? [] : ['--workers', String(workers)])]
  const { server, port, key, certificates, put } = await startTlsServer(...args)
  started.push(server)
  const opsPort = Number(/metrics are on http:\/\/127\.0\.0\.1:(\d+)$/m.exec(server.ready)?.[1])
  const endTrials = beginTrials([port, opsPort])
  const tls = { rejectUnauthorized: false }
  const endLoad = beginLoad({ hostname: '127.0.0.1', port, tls }, askOwn(key))
  put(certificates[1])
  process.kill(server.pid, 'SIGHUP')
  const reloads = () => server.said().split('"event":"tls_reloaded"').length - 1
  await until(() => reloads() === workers)
  const { failures, requests } = await endLoad()
  expect(failures).toEqual([])
  expect(requests).toBeGreaterThan(0)
  for (const [index, pid] of workersOf(server.pid)) {
    process.kill(pid, 'SIGKILL')
    await workerAfter(server.pid, index, pid)
  }
  const name = await shakeHands(port).then(
    shaken => shaken.name,
    () => 'no answer',
  )
  expect({ ...(await endTrials()), name }).toEqual({ ...nothingWorked, name: 'two' })
  expect(await server.end('SIGTERM')).toBe(0)
  // It is the vault alone that was in the way.
  await until(() => listenBeside(port).length > 0 && listenBeside(opsPort).length > 0)
})
