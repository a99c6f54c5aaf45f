/**
 * Ends and starts a vault again on the socket of its manager, while callers keep sending.
 * @module
 */
import { join } from 'node:path'
import { runCoffer, withoutWarnings } from './coffer-process.ts'
import { temporaryFolder } from './folders.ts'
import { askOwn, beginLoad, type LoadFigures } from './load.ts'
import { hear, openListener, startService, untilTold } from './service-manager.ts'

/** Each caller sends at least once in this time, so also once while a server drains. */
const drainSeconds = 1

interface Restarted extends LoadFigures {
  /** Lines of the processes on stderr, without a start's remarks on its settings. */
  readonly lines: readonly string[]
  readonly exitCodes: readonly (number | null)[]
}

export async function restartUnderLoad(
  restarts: number,
  ...flags: readonly string[]
): Promise<Restarted> {
  const root = temporaryFolder()
  const data = join(root, 'data')
  const { stdout } = await runCoffer(['init', '--data', data, '--json'])
  const { key } = JSON.parse(stdout) as { key: string }
  const { file: listener, port } = openListener()
  const words = ['serve', '--data', data, '--drain-seconds', String(drainSeconds), ...flags]
  const lines: string[] = []
  const exitCodes: (number | null)[] = []
  const start = async (count: number) => {
    const notify = join(root, `notify-${count}`)
    const told = hear(notify)
    const service = startService(words, { listener, notify })
    await untilTold(told, 'READY=1')
    told.close()
    return service
  }
  let service = await start(0)
  const end = async () => {
    service.child.kill('SIGTERM')
    exitCodes.push(await service.child.exited)
    const said = withoutWarnings(await service.stderr).split('\n')
    lines.push(...said.filter(line => line !== ''))
  }
  const endLoad = beginLoad({ hostname: '127.0.0.1', port }, askOwn(key))
  for (let count = 1; count <= restarts; count += 1) {
    await Bun.sleep(drainSeconds * 1_000)
    await end()
    service = await start(count)
  }
  await Bun.sleep(drainSeconds * 1_000)
  const figures = await endLoad()
  await end()
  return { ...figures, lines, exitCodes }
}
