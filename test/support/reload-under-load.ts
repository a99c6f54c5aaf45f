/**
 * Certificates that are changed again and again while callers go on.
 * @module
 */
import { withoutWarnings } from './coffer-process.ts'
import { askOwn, beginLoad, type LoadFigures } from './load.ts'
import { shakeHands, startTlsServer } from './tls-server.ts'
import { until } from './until.ts'

export interface Figures extends LoadFigures {
  /** Handshakes after all have said so that showed the certificate of before. */
  readonly outdated: number
  /** What the server wrote to stderr, without what a start and an end say. */
  readonly lines: readonly string[]
}

const reloadsIn = (said: string): number => said.split('"event":"tls_reloaded"').length - 1

/**
 * @param workers processes that serve, each of which says when it has the new certificate: the next
 *   one comes then
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
