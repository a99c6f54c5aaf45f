/**
 * Replaces certificates again and again while callers keep sending.
 * @module
 */
import { withoutWarnings } from './coffer-process.ts'
import { askOwn, beginLoad, type LoadFigures } from './load.ts'
import { shakeHands, startTlsServer } from './tls-server.ts'
import { until } from './until.ts'

export interface Figures extends LoadFigures {
  /** Handshakes that showed the old certificate after all workers had reported the new one. */
  readonly outdated: number
  /** Lines of the server on stderr, without the usual ones of a start and an end. */
  readonly lines: readonly string[]
}

const reloadsIn = (said: string): number => said.split('"event":"tls_reloaded"').length - 1

/**
 * @param workers processes that serve; the next certificate follows once each has reported the new
 *   one
 */
export async function reloadUnderLoad(reloads: number, workers: number): Promise<Figures> {
  const args = workers > 1 ? ['--workers', String(workers)] : []
  const { server, port, key, certificates, put } = await startTlsServer(...args)
  const tls = { rejectUnauthorized: false }
  const endLoad = beginLoad({ hostname: '127.0.0.1', port, tls }, askOwn(key))
  let outdated = 0
  for (let count = 1; count <= reloads; count += 1) {
    const wanted = count % 2 === 0 ? 'one' : 'two'
    put(certificates[count % 2 === 0 ? 0 : 1])
    process.kill(server.pid, 'SIGHUP')
    await until(() => reloadsIn(server.said()) >= count * workers)
    while ((await shakeHands(port)).name !== wanted) outdated += 1
  }
  const figures = await endLoad()
  await server.end('SIGTERM')
  const lines = withoutWarnings(await server.stderr)
    .split('\n')
    .filter(line => line !== '')
  return { ...figures, outdated, lines }
}
