/**
 * The official verifiers of Standard Webhooks for Python and Go; they check v1 alone. In Go the
 * standard library checks v1a.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import {
  signWebhook,
  webhookPublicKeyText,
  webhookSecretText,
} from '../../src/webhooks/signature.ts'
import { goAbroad, hasPytest, pythonAbroad, pytestMissing } from '../support/pytest.ts'

const folder = join(import.meta.dir, 'verifiers')
if (!hasPytest) console.warn(`the verifiers in Python and Go are not tested: ${pytestMissing}`)

/** Longest time for Go to get the verifier and to build it. */
const goMsMax = 600_000

const { privateKey: eventKey, publicKey } = generateKeyPairSync('ed25519')
const [older, newer] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
const body = Buffer.from('{"name":"Zoë 💳"}')
const signedBy = (...secrets: readonly Uint8Array[]) =>
  signWebhook(
    { id: 'msg_1', timestamp: Math.floor(Date.now() / 1_000), body },
    { secrets, eventKey },
  )
const caseOf = (secret: Uint8Array, headers: Readonly<Record<string, string>>, sent = body) =>
  JSON.stringify({
    secret: webhookSecretText(secret).reveal(),
    public_key: webhookPublicKeyText(publicKey),
    headers,
    body: sent.toString('base64'),
  })

/** Each case, and whether it is to be taken by its secret, and by the public key. */
const makeCases = (): readonly (readonly [string, boolean, boolean])[] => [
  [caseOf(newer, signedBy(newer)), true, true],
  [caseOf(newer, signedBy(newer, older)), true, true],
  [caseOf(older, signedBy(newer, older)), true, true],
  [caseOf(older, signedBy(newer)), false, true],
  [caseOf(newer, signedBy(newer), Buffer.from('{}')), false, false],
  [caseOf(newer, { ...signedBy(newer), 'webhook-id': 'msg_2' }), false, false],
]

async function verifyBy(command: readonly string[], cwd: string): Promise<readonly unknown[]> {
  const child = Bun.spawn([...command], {
    cwd,
    env: {
      ...process.env,
      GOTOOLCHAIN: 'local',
      GOWORK: 'off',
      GOFLAGS: '-mod=readonly',
      CGO_ENABLED: '0',
      // That of another Go on the machine would be taken.
      GOROOT: undefined,
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdin: Buffer.from(
      `${makeCases()
        .map(([line]) => line)
        .join('\n')}\n`,
    ),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(stderr)
  return stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
}

describe.skipIf(!hasPytest)('the verifier in Python', () => {
  test('takes each live secret, and nothing changed', async () => {
    const taken = await verifyBy([pythonAbroad, 'verify.py'], folder)
    expect(taken).toEqual(makeCases().map(([, v1]) => ({ v1 })))
  })
})

describe.skipIf(!hasPytest)('the verifier in Go', () => {
  test(
    'takes each live secret and the public key, and nothing changed',
    async () => {
      const taken = await verifyBy([goAbroad, 'run', '.'], join(folder, 'go'))
      expect(taken).toEqual(makeCases().map(([, v1, v1a]) => ({ v1, v1a })))
    },
    goMsMax,
  )
})
