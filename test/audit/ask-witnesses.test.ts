/**
 * A vault that asks a witness, beside the answers that another witness than our own may give.
 * @module
 */
import { expect, test } from 'bun:test'
import { makeCheckpoints, type SignedCheckpoint } from '../../src/audit/checkpoints.ts'
import { makeNoteSigner, printVerifierKey } from '../../src/audit/note-keys.ts'
import { readWitnessRequest } from '../../src/audit/witness-request.ts'
import type { Send } from '../../src/egress/send.ts'
import { utf8, utf8Text } from '../../src/lib/bytes.ts'
import { makeWitnessedLog, readWitness } from '../../src/server/witness/ask-witnesses.ts'
import { until } from '../support/until.ts'
import { openTestVault } from '../support/vault.ts'

const signer = makeNoteSigner('witness.example', 'witness', new Uint8Array(32).fill(3))
const known = readWitness(`${printVerifierKey(signer.key)}@https://witness.example`)

async function signed(seed: number) {
  const { deps } = await openTestVault(seed)
  let kept: Uint8Array | undefined
  const place = { read: () => kept, write: (bytes: Uint8Array) => void (kept = bytes) }
  await deps.audit.record({ atMs: 0, operation: 'test', entityIds: [], result: 200 })
  const checkpoint = await makeCheckpoints({ ...deps, place }).next()
  if (checkpoint === undefined) throw new Error('nothing was signed')
  return { deps, checkpoint }
}

/** Asks a witness that answers each size it is asked from. @returns the counts */
async function ask(seed: number, sizeTold: (checkpoint: SignedCheckpoint) => string) {
  const { deps, checkpoint } = await signed(seed)
  const asked: (number | undefined)[] = []
  const send: Send = async ({ body }) => {
    asked.push(readWitnessRequest(utf8Text(body))?.seen)
    return { status: 409, retryAfterSeconds: undefined, body: utf8(sizeTold(checkpoint)) }
  }
  const witnessed = makeWitnessedLog(deps, send, [known])
  witnessed.offer(checkpoint)
  await until(() => Object.values(witnessed.counts()).some(count => count > 0))
  return { counts: witnessed.counts(), asked, size: checkpoint.size }
}

const none = { cosigned: 0, diverged: 0, refused: 0, failed: 0 }

// proves S99
test('another root of the very size that was cosigned is a conflict, and diverges', async () => {
  const { counts, asked, size } = await ask(310, checkpoint => `${checkpoint.size}\n`)
  expect(asked).toEqual([0, size])
  expect(counts).toEqual({ ...none, diverged: 1 })
})

// proves S99
test('a greater size than this log has diverges', async () => {
  const { counts } = await ask(311, checkpoint => `${checkpoint.size + 1}\n`)
  expect(counts).toEqual({ ...none, diverged: 1 })
})

test('a conflict that tells no size, or is told for another one again, is a refusal', async () => {
  expect((await ask(312, () => 'no')).counts).toEqual({ ...none, refused: 1 })
  expect((await ask(313, () => '0\n')).counts).toEqual({ ...none, refused: 1 })
})
