/**
 * Checkpoints and proofs of the audit log over HTTP.
 * @module
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { leafOf } from '../../src/audit/bundle.ts'
import { makeCheckpoints, type Checkpoints } from '../../src/audit/checkpoints.ts'
import { readCheckpoint } from '../../src/audit/checkpoint.ts'
import { readVerifierKey } from '../../src/audit/note-keys.ts'
import { isIncluded } from '../../src/audit/proofs.ts'
import { openNote } from '../../src/audit/signed-note.ts'
import { bytesOfHex } from '../../src/lib/bytes.ts'
import { entriesOf } from '../support/audit-log.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
let checkpoints: Checkpoints
let reader: string
beforeAll(async () => {
  vault = await openTestVault(82)
  let kept: Uint8Array | undefined
  const place = { read: () => kept, write: (bytes: Uint8Array) => void (kept = bytes) }
  checkpoints = makeCheckpoints({ ...vault.deps, place })
  reader = await vault.application({ type: 'private', permissions: ['token:create'] })
})
afterAll(() => vault.deps.store.close())

const ask = (path: string, key = vault.managementKey) => vault.ask('GET', path, { key })

/** Signs all that is there. */
async function signAll(): Promise<void> {
  await vault.deps.audit.flush()
  while ((await checkpoints.next()) !== undefined) await vault.deps.audit.flush()
}

async function checkpointOf() {
  const { status, body } = await ask('/logs/checkpoint')
  expect(status).toBe(200)
  const opened = openNote(String(body['note']), [readVerifierKey(String(body['key']))])
  const checkpoint = opened.fault === undefined ? readCheckpoint(opened.text) : undefined
  if (checkpoint === undefined) throw new Error('no checkpoint')
  return checkpoint
}

// proves S95
test('each entry of the tenant is proved by the newest checkpoint', async () => {
  for (let count = 0; count < 30; count += 1) {
    const body = { id: `proved-${count}`, type: 'token', data: 'value' }
    await vault.ask('POST', '/tokens', { key: reader, body })
  }
  await signAll()
  const checkpoint = await checkpointOf()
  const entries = (await entriesOf(vault)).filter(({ sequence }) => sequence < checkpoint.size)
  let proved = 0
  for (const { sequence, entry, line } of entries) {
    const { status, body } = await ask(`/logs/${sequence}/proof`)
    if (entry.tenantId === undefined) {
      expect(status).toBe(404)
      continue
    }
    expect([status, body['entry'], body['size']]).toEqual([200, line, checkpoint.size])
    const proof = (body['proof'] as readonly string[]).map(hash => Uint8Array.fromBase64(hash))
    const leaf = leafOf(bytesOfHex(String(body['salt'])), line)
    expect(isIncluded(leaf, sequence, checkpoint, proof)).toBe(true)
    expect(isIncluded(leaf, sequence + 1, checkpoint, proof)).toBe(false)
    proved += 1
  }
  expect(proved).toBeGreaterThan(30)
})

test('what is not there, not signed or not theirs is not found', async () => {
  await signAll()
  const { size } = await checkpointOf()
  await vault.ask('POST', '/tokens', { key: reader, body: { type: 'token', data: 'value' } })
  await vault.deps.audit.flush()
  const all = await entriesOf(vault)
  const last = all.findLast(({ entry }) => entry.tenantId !== undefined)?.sequence ?? -1
  expect(last).toBeGreaterThanOrEqual(size)
  expect((await ask(`/logs/${last}/proof`)).status).toBe(404)
  for (const sequence of ['99999', '01', '-1', '1.0', '1e3', 'x', '9'.repeat(30)]) {
    expect((await ask(`/logs/${sequence}/proof`)).status).toBe(404)
  }
})

test('is for management applications with log:read alone', async () => {
  expect((await ask('/logs/checkpoint', reader)).status).toBe(403)
  expect((await ask('/logs/0/proof', reader)).status).toBe(403)
  const without = await vault.application({ type: 'management', permissions: ['tenant:read'] })
  expect((await ask('/logs/checkpoint', without)).status).toBe(403)
})
