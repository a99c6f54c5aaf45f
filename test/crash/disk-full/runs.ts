/**
 * Ways in which a disk fills up under load, and the required behaviour of the server in each.
 * @module
 */
import { freeSpaceBytesMin } from '../../../src/limits/operation-limits.ts'
import { freeSpaceProbeMs } from '../../../src/store/core/limits.ts'
import { runCoffer } from '../../support/coffer-process.ts'
import { storageFull, unavailable } from '../clients/client.ts'
import {
  check,
  connectClients,
  load,
  openScene,
  start,
  startToReady,
  useScene,
  type Scene,
} from '../clients/scene.ts'
import type { Ended, Server } from '../clients/server.ts'
import { createToken, deleteToken, readToken } from '../clients/work-tokens.ts'
import { findDamage } from '../clients/integrity.ts'
import type { Disk } from './disk.ts'

export interface Outcome {
  /** Time from freed space to the first acknowledged create. */
  readonly recoveryMs: number
  /** End of the server, if it ended by itself. */
  readonly ended?: Ended | undefined
  readonly failures: string[]
}

export type Run = (scene: Scene, disk: Disk) => Promise<Outcome>

const recoveryMsMax = 5_000
const probeMs = 25
/** Room above the reserve that writes leave free: some writes fill it. */
const roomBytes = 1_536 * 1024
const reads = 20
const deletes = 5

const countFull = ({ ledger }: Scene): number => ledger.answered.get(storageFull) ?? 0

async function untilFull(scene: Scene, before: number): Promise<void> {
  while (countFull(scene) === before) await Bun.sleep(5)
}

/** On a full disk deletes go on, and creates are refused; a read whose entry has no room is too. */
async function useFull(scene: Scene): Promise<string[]> {
  const [client] = await connectClients(scene, 1)
  if (client === undefined) return []
  const { live } = scene.ledger
  const reader = { ...client, tolerated: [storageFull] }
  for (let count = 0; count < reads && live.length > 0; count += 1) await readToken(reader)
  for (let count = 0; count < deletes && live.length > 0; count += 1) await deleteToken(client)
  const before = countFull(scene)
  await createToken({ ...client, tolerated: [storageFull] })
  client.connection.close()
  return countFull(scene) > before ? [] : ['a create on a full disk was not refused']
}

/** Returns the milliseconds until a create is acknowledged. */
async function recover(scene: Scene): Promise<number> {
  const [client] = await connectClients(scene, 1, [storageFull])
  const startedMs = performance.now()
  if (client === undefined) return Infinity
  for (;;) {
    const before = countFull(scene)
    await createToken(client)
    const ms = performance.now() - startedMs
    if (countFull(scene) === before || ms > 2 * recoveryMsMax) {
      client.connection.close()
      return ms
    }
    await Bun.sleep(probeMs)
  }
}

/** Frees the disk, after which every promise must hold. */
async function finish(
  scene: Scene,
  disk: Disk,
  { server, failures, ended }: { server?: Server; failures: string[]; ended?: Ended },
): Promise<Outcome> {
  const freedMs = performance.now()
  disk.free()
  const running = server ?? (await startToReady(scene))
  await recover(scene)
  const recoveryMs = performance.now() - freedMs
  if (recoveryMs > recoveryMsMax) failures.push(`recovery took ${Math.round(recoveryMs)} ms`)
  await check(scene, false)
  await check(scene, true)
  const { exitCode } = await running.stop()
  if (exitCode !== 0) failures.push(`exit code ${exitCode} after SIGTERM`)
  failures.push(...(await findDamage(scene.home.data)))
  return { recoveryMs, ended, failures }
}

/** Writes fill the disk up to the reserve that they must leave free. */
export const fillByWrites: Run = async (scene, disk) => {
  disk.fillTo(freeSpaceBytesMin + roomBytes)
  const server = await startToReady(scene)
  const ends = async (): Promise<void> => {
    await untilFull(scene, countFull(scene))
    await Bun.sleep(scene.draw(300))
  }
  await load(scene, { ends, tolerated: [storageFull] })
  return finish(scene, disk, { server, failures: await useFull(scene) })
}

/** True for a command that failed with an error of one line. */
const isClear = (exitCode: number | null, stderr: string): boolean =>
  exitCode === 1 && /^coffer: [^\n]+\n$/.test(stderr)

/** Making a new vault on a full disk must fail with an error of one line. */
async function initOnFull(disk: Disk): Promise<string[]> {
  const { exitCode, stderr } = await runCoffer(['init', '--data', `${disk.path}/another`])
  return isClear(exitCode, stderr) ? [] : [`init on a full disk: ${exitCode}, ${stderr}`]
}

/** A start on a full disk serves as far as it can, or names the missing space in one line. */
async function startOnFull(scene: Scene): Promise<{ server?: Server; failures: string[] }> {
  const server = start(scene)
  const isReady = await server.isReady.catch(() => false)
  if (isReady) return { server, failures: await useFull(scene) }
  const { exitCode, stderr } = await server.ended
  const failures = isClear(exitCode, stderr) ? [] : [`start on a full disk: ${exitCode}, ${stderr}`]
  return { failures }
}

/** Another program takes all free space at once, faster than the server can notice. */
export const fillAtOnce: Run = async (scene, disk) => {
  disk.fillTo(freeSpaceBytesMin + 8 * roomBytes)
  const server = await startToReady(scene)
  const ends = async (): Promise<void> => {
    await Bun.sleep(scene.draw(400))
    disk.fillTo(0)
    // Until the next probe, a small write is still accepted and uses the reserve.
    await Bun.sleep(freeSpaceProbeMs + scene.draw(500))
  }
  await load(scene, { ends, tolerated: [storageFull, unavailable] })
  const refused = await initOnFull(disk)
  const ended = await Promise.race([server.ended, Bun.sleep(200)])
  if (ended === undefined && scene.draw(2) === 0) {
    return finish(scene, disk, { server, failures: [...refused, ...(await useFull(scene))] })
  }
  if (ended === undefined) await server.kill()
  const { failures, ...again } = await startOnFull(scene)
  const rest = ended === undefined ? {} : { ended }
  return finish(scene, disk, { ...again, ...rest, failures: [...refused, ...failures] })
}

/** There is room for bytes but not for a new file: an existing vault needs none. */
export const fillNames: Run = async (scene, disk) => {
  disk.takeNames()
  const first = await startToReady(scene)
  await load(scene, { ends: () => Bun.sleep(200 + scene.draw(300)) })
  const { exitCode } = await first.stop()
  const failures = exitCode === 0 ? [] : [`exit code ${exitCode} after SIGTERM`]
  failures.push(...(await initOnFull(disk)))
  const server = await startToReady(scene)
  return finish(scene, disk, { server, failures })
}

/** Does one run on a disk of its own. */
export async function runOn(
  run: Run,
  disk: Disk,
  seed: number,
  folder: string,
): Promise<{ readonly scene: Scene; readonly outcome: Outcome }> {
  const scene = await openScene(seed, folder, `${disk.path}/data`)
  return { scene, outcome: await useScene(scene, () => run(scene, disk)) }
}
