/**
 * A vault whose clock goes an hour ahead of the others and of the database while it serves.
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { askOnce, type Answer } from '../support/connection.ts'
import { signal } from './processes.ts'
import type { Scene } from './scene.ts'
import { makeVault, untilServed, type Vault } from './vaults.ts'

const libraries = '/usr/lib'
const lifeMs = 1_800_000
const noticedMsMax = 10_000
const watchedMs = 5_000
const id = 'expires-in-half-an-hour'

const read = (socket: string, key: string): Promise<Answer> =>
  askOnce({ unix: socket }, 'GET', `/tokens/${id}`, { key })

async function untilStatus(socket: string, key: string, status: number): Promise<Answer> {
  const deadline = performance.now() + noticedMsMax
  for (;;) {
    const answer = await read(socket, key)
    if (answer.status === status || performance.now() > deadline) return answer
    await Bun.sleep(50)
  }
}

/** Makes a token that ends in half an hour, by the right time. */
async function makeToken({ vaults, failures }: Scene, key: string): Promise<void> {
  const expires_at = new Date(Date.now() + lifeMs).toISOString()
  const body = { id, type: 'token', data: 'x', expires_at }
  const socket = vaults[0]?.socket ?? ''
  const made = await askOnce({ unix: socket }, 'POST', '/tokens', { key, body })
  if (made.status !== 201) failures.push(`clock: create: ${made.status}: ${made.text}`)
}

async function expectShown({ vaults, failures }: Scene, key: string): Promise<void> {
  for (const vault of vaults) {
    const { status } = await read(vault.socket, key)
    if (status !== 200) failures.push(`clock: another vault answers ${status}`)
  }
}

/** Expects the refusals of a vault whose clock is off. */
async function expectRefused({ failures, folder }: Scene, ahead: Vault, key: string) {
  const refused = await untilStatus(ahead.socket, key, 503)
  if (refused.status !== 503 || !/clock/i.test(refused.text)) {
    failures.push(`clock: the vault ahead answers ${refused.status}: ${refused.text}`)
  }
  await Bun.sleep(watchedMs)
  const log = readFileSync(join(folder, 'ahead.log'), 'utf8')
  if (!log.includes('"clock_off"')) failures.push('clock: the vault ahead logs nothing of it')
}

/**
 * A vault whose clock is ahead refuses and says why; for the others, tokens that it would call
 * expired live. Once it is right it serves again.
 */
export async function runAhead(scene: Scene, key: string): Promise<void> {
  const { folder, cluster, failures } = scene
  await makeToken(scene, key)
  const [library] = new Bun.Glob('*/faketime/libfaketime.so.1').scanSync(libraries)
  if (library === undefined) throw new Error('libfaketime is not installed')
  const offset = join(folder, 'offset')
  const setOffset = (text: string): void => writeFileSync(offset, `${text}\n`)
  setOffset('+0')
  const ahead = makeVault(folder, 'ahead', cluster.haproxy, {
    LD_PRELOAD: join(libraries, library),
    FAKETIME_TIMESTAMP_FILE: offset,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  })
  await untilServed(ahead)
  const right = await untilStatus(ahead.socket, key, 200)
  if (right.status !== 200) failures.push(`clock: before it is off: ${right.status}: ${right.text}`)
  setOffset('+1h')
  await expectRefused(scene, ahead, key)
  await expectShown(scene, key)
  setOffset('+0')
  const again = await untilStatus(ahead.socket, key, 200)
  if (again.status !== 200) failures.push(`clock: once it is right: ${again.status}: ${again.text}`)
  signal(ahead.owned.pid, 'SIGKILL')
  await ahead.owned.child.exited
}
