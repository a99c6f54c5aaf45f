/**
 * Standbys that are cut off, while the waits of COMMITs for them are ended one way or another; then
 * the primary is gone, and a standby takes its place with what it has.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { databasePassword, findPrimary, type Node } from './cluster.ts'
import { childrenOf, postmasterOf, signal } from './processes.ts'
import { add, raise, settle, untilUsual, untilWritable, type Scene } from './scene.ts'

/** Longer than a vault takes to begin anew, shorter than a standby waits for its primary. */
const cutOffMs = 6_000
const stepMs = 20

type Ending = (node: Node) => Promise<number>

const titleOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}

const backendsOf = (node: Node): readonly number[] => {
  const postmaster = postmasterOf(join(node.folder, 'data'))
  return postmaster === undefined ? [] : childrenOf(postmaster)
}

const sendersOf = (node: Node): readonly number[] =>
  backendsOf(node).filter(pid => titleOf(pid).includes('walsender'))

/** Stopped senders send nothing, and nobody notices for a minute. */
function freezeSenders(node: Node): void {
  for (const pid of sendersOf(node)) signal(pid, 'SIGSTOP')
}

/** Finds them by their titles: `COMMIT waiting for 0/5A3B2C0`. */
const waitingIn = (node: Node): readonly number[] =>
  backendsOf(node).filter(pid => titleOf(pid).includes(' waiting for '))

const bySql =
  (how: string): Ending =>
  async node => {
    const sql = new SQL(`postgres://postgres@127.0.0.1:${node.port}/postgres`, {
      password: databasePassword,
      max: 1,
      connectionTimeout: 2,
    })
    try {
      const text = `SELECT ${how}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
      return (await sql.unsafe(text)).length
    } catch {
      return 0
    } finally {
      void sql.close({ timeout: 0 }).catch(() => {})
    }
  }

/** The server restarts with the commits of its log, which waited in vain. */
const bySignal: Ending = async node => {
  const [pid] = waitingIn(node)
  if (pid === undefined) return 0
  // Else it tells the cluster that no standby is in step, so that none may take its place.
  signal(node.patroni.pid, 'SIGSTOP')
  signal(pid, 'SIGKILL')
  // Stopped senders keep it from beginning anew for 5 s.
  for (const sender of sendersOf(node)) signal(sender, 'SIGKILL')
  return 1
}

async function endWaits(scene: Scene, fault: string, end: Ending): Promise<void> {
  const primary = await findPrimary(scene.cluster)
  if (primary === undefined) throw new Error('there is no primary')
  const startedMs = performance.now()
  let ended = 0
  while (performance.now() < startedMs + cutOffMs) {
    freezeSenders(primary)
    // A crash counts as one: a server that restarts all the time takes no write.
    if (end !== bySignal || ended === 0) ended += await end(primary)
    await Bun.sleep(stepMs)
  }
  add(scene, `${fault}: waits ended`, ended)
  if (ended === 0) throw new Error('no COMMIT waited for a standby')
  const server = postmasterOf(join(primary.folder, 'data'))
  const backends = backendsOf(primary)
  for (const pid of [primary.patroni.pid, server, ...backends]) signal(pid, 'SIGKILL')
  const goneMs = performance.now()
  const sinceMs = await untilWritable(scene)
  raise(scene, `${fault}: longest until the database took a write, ms`, sinceMs - goneMs)
  await untilUsual(scene, sinceMs, fault)
  scene.cluster.start(primary)
  await settle(scene)
}

export const cancelWaits = (scene: Scene): Promise<void> =>
  endWaits(scene, 'waits cancelled', bySql('pg_cancel_backend'))

export const terminateWaits = (scene: Scene): Promise<void> =>
  endWaits(scene, 'waits terminated', bySql('pg_terminate_backend'))

export const crashWaits = (scene: Scene): Promise<void> =>
  endWaits(scene, 'backend crashed amid its wait', bySignal)
