/**
 * Signatures by which a receiver knows that a webhook is of this vault, unchanged and of now.
 *
 * Source: Standard Webhooks 1.0.0, "Signature scheme" and "Webhook headers". Both schemes sign the
 * same bytes: id, timestamp and body, with full stops between.
 * @module
 */
import { createHmac, sign, type KeyObject } from 'node:crypto'
import { invariant } from '../lib/errors.ts'
import { Secret } from '../lib/secret.ts'
import { webhookSecretBytesMax, webhookSecretBytesMin } from '../limits/limits.ts'

const publicKeyBytes = 32

function assertSecret({ length }: Uint8Array): void {
  const isAllowed = length >= webhookSecretBytesMin && length <= webhookSecretBytesMax
  invariant(isAllowed, 'a webhook secret has as many bytes as the standard allows')
}

/** Returns the form in which a receiver is shown its secret. @param secret 24 to 64 bytes */
export function webhookSecretText(secret: Uint8Array): Secret {
  assertSecret(secret)
  return new Secret(`whsec_${secret.toBase64()}`)
}

/** Returns the form in which receivers are given the public key. @param key an Ed25519 key */
export function webhookPublicKeyText(key: KeyObject): string {
  const { crv, x } = key.export({ format: 'jwk' })
  invariant(crv === 'Ed25519' && x !== undefined, 'webhooks are signed by an Ed25519 key')
  const bytes = Uint8Array.fromBase64(x, { alphabet: 'base64url' })
  invariant(bytes.length === publicKeyBytes, 'an Ed25519 public key has 32 bytes')
  return `whpk_${bytes.toBase64()}`
}

export interface WebhookSigners {
  /** Secrets of the endpoint, newest first: two while a replaced one still counts. */
  readonly secrets: readonly Uint8Array[]
  /** Private Ed25519 key of the installation. */
  readonly eventKey: KeyObject
}

export interface WebhookMessage {
  /** The same for each attempt: letters, digits, `-` and `_`, as a full stop ends it. */
  readonly id: string
  /** Unix seconds of this attempt. */
  readonly timestamp: number
  /** Sent byte for byte as signed. */
  readonly body: Uint8Array
}

const plainId = /^[\w-]+$/

/** Returns the three headers of the standard. */
export function signWebhook(
  { id, timestamp, body }: WebhookMessage,
  { secrets, eventKey }: WebhookSigners,
): Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  invariant(plainId.test(id) && Number.isSafeInteger(timestamp), 'a webhook has an id and a time')
  invariant(secrets.length > 0, 'a webhook is signed by a secret')
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body])
  const signatures = secrets.map(secret => {
    assertSecret(secret)
    return `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`
  })
  signatures.push(`v1a,${sign(null, signed, eventKey).toString('base64')}`)
  return {
    'webhook-id': id,
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': signatures.join(' '),
  }
}
