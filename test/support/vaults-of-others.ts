/**
 * Copies of one vault that tests give to another user, whom root's commands then serve.
 * @module
 */
import { chmodSync, chownSync, cpSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer } from './coffer-process.ts'
import { temporaryFolder } from './folders.ts'

/** Only root may give a file away. */
export const isRoot = process.getuid?.() === 0

/** The user nobody. */
export const otherUser = 65_534

interface VaultsOfOthers {
  /** Returns a path that nothing has. */
  readonly fresh: (name: string) => string
  readonly copyOfVault: () => string
  /** Makes the other user the owner of a vault. */
  readonly giveAway: (data: string) => void
}

/** @param mode of the folder of all; by default no other user may enter it */
export async function openVaultsOfOthers(mode = 0o700): Promise<VaultsOfOthers> {
  const root = temporaryFolder()
  chmodSync(root, mode)
  const made = join(root, 'made')
  await runCoffer(['init', '--data', made])
  let count = 0
  const fresh = (name: string): string => join(root, `${name}-${(count += 1)}`)
  return {
    fresh,
    copyOfVault() {
      const data = fresh('vault')
      cpSync(made, data, { recursive: true })
      return data
    },
    giveAway(data) {
      for (const path of [data, join(data, 'master.key')]) chownSync(path, otherUser, otherUser)
    },
  }
}
