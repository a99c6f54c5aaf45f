/**
 * Proofs as the console verifies them, of a real log, and of each part of one changed.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { makeCheckpoints } from '../../../../src/audit/checkpoints.ts'
import type { LogProof } from '../../../../src/client/interface.ts'
import { verifyProof } from '../../../../src/console/app/proof.ts'
import { openTestVault, type TestVault } from '../../../support/vault.ts'

let vault: TestVault
let proofs: readonly LogProof[]
let key: string

const ask = (path: string) => vault.ask('GET', path, { key: vault.managementKey })

beforeAll(async () => {
  vault = await openTestVault(301)
  let kept: Uint8Array | undefined
  const place = { read: () => kept, write: (bytes: Uint8Array) => void (kept = bytes) }
  const checkpoints = makeCheckpoints({ ...vault.deps, place })
  for (let count = 0; count < 21; count += 1) await ask('/applications/key')
  await vault.deps.audit.flush()
  while ((await checkpoints.next()) !== undefined) await vault.deps.audit.flush()
  const { body } = await ask('/logs?size=20&page=1')
  const entries = body['data'] as readonly { readonly sequence: number }[]
  const found = await Promise.all(entries.map(({ sequence }) => ask(`/logs/${sequence}/proof`)))
  proofs = found
    .filter(({ status }) => status === 200)
    .map(({ body: proof }) => proof as unknown as LogProof)
  key = String((await ask('/logs/checkpoint')).body['key'])
})
afterAll(() => vault.deps.store.close())

test('each entry of a log is proved', async () => {
  expect(proofs.length).toBeGreaterThan(10)
  for (const proof of proofs) {
    expect(await verifyProof(proof, key)).toEqual({ holds: true, size: proof.size })
  }
})

const flip = (text: string, [one, other] = ['A', 'B']): string =>
  (text.startsWith(one) ? other : one) + text.slice(1)

const changed: readonly (readonly [string, (proof: LogProof) => LogProof])[] = [
  ['its entry', proof => ({ ...proof, entry: proof.entry.replace('200', '201') })],
  ['its salt', proof => ({ ...proof, salt: flip(proof.salt, ['0', '1']) })],
  ['its place', proof => ({ ...proof, sequence: proof.sequence - 1 })],
  ['a place behind the log', proof => ({ ...proof, sequence: proof.size })],
  ['its size', proof => ({ ...proof, size: proof.size + 1 })],
  ['a hash', proof => ({ ...proof, proof: proof.proof.map(hash => flip(hash)) })],
  ['a hash less', proof => ({ ...proof, proof: proof.proof.slice(1) })],
  ['a hash more', proof => ({ ...proof, proof: [...proof.proof, proof.proof[0] ?? ''] })],
  ['its root', proof => ({ ...proof, note: proof.note.replace(/\n\d+\n/, '$&A') })],
  ['its signature', proof => ({ ...proof, note: proof.note.replace(/.{8}\n$/, 'AAAAAAA=\n') })],
  ['no signature', proof => ({ ...proof, note: proof.note.replace(/\n\n.*/s, '\n\n') })],
  ['no base64', proof => ({ ...proof, proof: ['*'] })],
]

describe('a proof is refused for', () => {
  test.each(changed)('%s', async (_, change) => {
    for (const proof of proofs) {
      const { holds } = await verifyProof(change(proof), key)
      expect([proof.sequence, holds]).toEqual([proof.sequence, false])
    }
  })

  test('another key', async () => {
    const [proof] = proofs
    if (proof === undefined) throw new Error('no proof')
    const [name, id, bytes = ''] = key.split('+')
    const other = `${name}+${id}+${bytes.slice(0, 10)}${flip(bytes.slice(10))}`
    expect((await verifyProof(proof, other)).holds).toBe(false)
    expect((await verifyProof(proof, 'no key')).holds).toBe(false)
  })
})
