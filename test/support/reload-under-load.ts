/**
 * Certificates that are changed again and again while callers go on.
 * @module
 */
import { beginLoad, type LoadFigures } from './load.ts'
import { shakeHands, startTlsServer } from './tls-server.ts'

export interface Figures extends LoadFigures {
  /** Handshakes so long after a signal that showed the certificate of before. */
  readonly outdated: number
  /** What the server wrote to stderr. */
  readonly lines: readonly string[]
}

/**
 * @param settledMs how long after a signal the next one comes: what it has changed shows by then
 */
export async function reloadUnderLoad(
  reloads: number,
  settledMs: number,
  ...args: readonly string[]
): Promise<Figures> {
  const { server, port, key, certificates, put } = await startTlsServer(...args)
  const tls = { rejectUnauthorized: false }
  const endLoad = beginLoad({ hostname: '127.0.0.1', port, tls }, key)
  let outdated = 0
  for (let count = 1; count <= reloads; count += 1) {
    const wanted = count % 2 === 0 ? 'one' : 'two'
    put(certificates[count % 2 === 0 ? 0 : 1])
    process.kill(server.pid, 'SIGHUP')
    await Bun.sleep(settledMs)
    while ((await shakeHands(port)).name !== wanted) outdated += 1
  }
  const figures = await endLoad()
  await server.end('SIGTERM')
  const lines = (await server.stderr).split('\n').filter(line => line !== '')
  return { ...figures, outdated, lines }
}
