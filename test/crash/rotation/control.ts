/**
 * Negative controls: each fault that the campaign looks for is put there, and must be found.
 * @module
 */
import { copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { check, load, startToReady, untilAcknowledged, type Scene } from '../clients/scene.ts'
import { runKeys, statusOf, numbersOf } from './commands.ts'
import { countLeft, masterKeyOf, remember, type Memory, type Standing } from './keyrings.ts'

const writes = 200

export interface Control {
  /** Losses that the check finds in an older database. */
  readonly losses: number
  /** Pieces of a keyring with a retired key that are found in that database. */
  readonly pieces: number
  /** True if a server starts with the previous master key. */
  readonly startsWithOldKey: boolean
}

const databaseOf = (data: string): string => join(data, 'store', 'data.mdb')

async function runAll(scene: Scene, whats: readonly ('rotate' | 'retire' | 'rekey')[]) {
  for (const what of whats) {
    const { exitCode, stderr } = await runKeys(scene.home, what)
    if (exitCode !== 0) throw new Error(`keys ${what}: ${stderr}`)
  }
}

async function standingOf({ home }: Scene): Promise<Standing> {
  const status = await statusOf(home)
  if (status === undefined) throw new Error('nobody serves')
  return { masterNumber: status.master_key, numbers: numbersOf(status) }
}

async function startsWith(scene: Scene, masterKey: Uint8Array): Promise<boolean> {
  const path = masterKeyOf(scene.home.data)
  const kept = readFileSync(path)
  writeFileSync(path, masterKey)
  try {
    await startToReady(scene)
    await scene.server?.stop()
    return true
  } catch {
    return false
  } finally {
    writeFileSync(path, kept)
  }
}

/** Puts back an older database, and later the previous master key. */
export async function runControl(scene: Scene, memory: Memory): Promise<Control> {
  const { ledger, home } = scene
  const older = `${home.data}.older`
  await scene.server?.stop()
  remember(memory)
  copyFileSync(databaseOf(home.data), older)
  await startToReady(scene)
  await load(scene, { ends: () => untilAcknowledged(scene, writes) })
  await runAll(scene, ['rotate', 'retire'])
  const standing = await standingOf(scene)
  await scene.server?.stop()
  cpSync(older, databaseOf(home.data))
  rmSync(older)
  const pieces = countLeft(memory, standing)
  await startToReady(scene)
  const before = ledger.breaches.splice(0)
  await check(scene, false)
  const found = ledger.breaches.splice(0, Infinity, ...before)
  const masterKey = readFileSync(masterKeyOf(home.data))
  await runAll(scene, ['rekey'])
  await scene.server?.stop()
  return {
    losses: found.filter(({ kind }) => kind === 'lost').length,
    pieces,
    startsWithOldKey: await startsWith(scene, masterKey),
  }
}
