/**
 * A vault whose clock is an hour ahead of the others and of the database.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openConnection, type Answer, type Connection } from '../support/connection.ts'
import { signal } from './processes.ts'
import type { Scene } from './scene.ts'
import { makeVault, untilServed } from './vaults.ts'

const lifeMs = 1_800_000
const watchedMs = 5_000
const id = 'expires-in-half-an-hour'

async function ask(socket: string, ...asked: Parameters<Connection['ask']>): Promise<Answer> {
  const connection = await openConnection({ unix: socket })
  return connection.ask(...asked).finally(() => connection.close())
}

async function expectShown({ vaults, failures }: Scene, key: string): Promise<void> {
  for (const vault of vaults) {
    const { status } = await ask(vault.socket, 'GET', `/tokens/${id}`, { key })
    if (status !== 200) failures.push(`clock: another vault answers ${status}`)
  }
}

/** It refuses and says why; to the others, what it would call expired stands. */
export async function runAhead(scene: Scene, key: string): Promise<void> {
  const { vaults, failures, folder, cluster } = scene
  const socket = vaults[0]?.socket ?? ''
  const expires_at = new Date(Date.now() + lifeMs).toISOString()
  const body = { id, type: 'token', data: 'x', expires_at }
  const made = await ask(socket, 'POST', '/tokens', { key, body })
  if (made.status !== 201) failures.push(`clock: create: ${made.status}: ${made.text}`)
  const ahead = makeVault(folder, 'ahead', cluster.haproxy, ['faketime', '-f', '+1h'])
  try {
    await untilServed(ahead)
  } catch (error) {
    // It may refuse to start as well, where it says why.
    const log = readFileSync(join(folder, 'ahead.log'), 'utf8')
    if (!log.includes('the clock of this machine')) failures.push(`clock: ${String(error)}: ${log}`)
    await expectShown(scene, key)
    return
  }
  await Bun.sleep(watchedMs)
  const refused = await ask(ahead.socket, 'GET', `/tokens/${id}`, { key })
  if (refused.status !== 503 || !/clock/i.test(refused.text)) {
    failures.push(`clock: the vault ahead answers ${refused.status}: ${refused.text}`)
  }
  signal(ahead.owned.pid, 'SIGKILL')
  await ahead.owned.child.exited
  await expectShown(scene, key)
}
