/**
 * The negative control: a vault that is put back to an older state, which the check must notice.
 * A check that finds no loss here would find none in a vault that loses writes.
 * @module
 */
import { cpSync, rmSync } from 'node:fs'
import { check, load, startToReady, untilAcknowledged, type Scene } from '../clients/scene.ts'

const writes = 200

/** @returns the number of losses that the check finds; the ledger keeps none of them */
export async function findRollback(scene: Scene): Promise<number> {
  const { home, ledger } = scene
  const older = `${home.data}.older`
  cpSync(home.data, older, { recursive: true })
  const written = await startToReady(scene)
  await load(scene, { ends: () => untilAcknowledged(scene, writes) })
  await written.stop()
  rmSync(home.data, { recursive: true })
  cpSync(older, home.data, { recursive: true })
  await startToReady(scene)
  const before = ledger.breaches.splice(0)
  await check(scene, false)
  const found = ledger.breaches.splice(0, Infinity, ...before)
  return found.filter(({ kind }) => kind === 'lost').length
}
