/**
 * Signatures of webhooks, by the published vectors and by the official verifier for JavaScript. The
 * verifiers for Python and Go are in `test/examples-abroad`.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  verify,
} from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import {
  signWebhook,
  webhookPublicKeyText,
  webhookSecretText,
  type WebhookMessage,
  type WebhookSigners,
} from '../../src/webhooks/signature.ts'

const eventKey = generateKeyPairSync('ed25519').privateKey
const [older, newer] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
const body = Buffer.from('{"name":"Zoë 💳","escaped":"\\u2028"}')
const message = (more: Partial<WebhookMessage> = {}): WebhookMessage => ({
  id: 'msg_1',
  timestamp: Math.floor(Date.now() / 1_000),
  body,
  ...more,
})
const signaturesOf = (from: WebhookMessage, signers: WebhookSigners): readonly string[] =>
  signWebhook(from, signers)['webhook-signature'].split(' ')

describe('the vectors', () => {
  // Test "sign function works" of each official library.
  test('of HMAC-SHA256', () => {
    const secret = Uint8Array.fromBase64('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
    const [signature] = signaturesOf(
      {
        id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        timestamp: 1_614_265_330,
        body: Buffer.from('{"test": 2432232314}'),
      },
      { secrets: [secret], eventKey },
    )
    expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
    expect(webhookSecretText(secret).reveal()).toBe('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
  })

  test('of an Ed25519 key (RFC 8032 section 7.1, test 1)', () => {
    const hex = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'
    const x = Buffer.from(hex, 'hex').toString('base64url')
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    expect(webhookPublicKeyText(key)).toBe(`whpk_${Buffer.from(hex, 'hex').toString('base64')}`)
  })
})

describe('the official verifier', () => {
  const verifier = (secret: Uint8Array) => new Webhook(webhookSecretText(secret).reveal())

  test('accepts what was signed, and gives the body', () => {
    const headers = signWebhook(message(), { secrets: [newer], eventKey })
    expect(verifier(newer).verify(body, headers)).toEqual(JSON.parse(body.toString()))
  })

  test('accepts either secret while both sign', () => {
    const headers = signWebhook(message(), { secrets: [newer, older], eventKey })
    verifier(newer).verify(body, headers)
    verifier(older).verify(body, headers)
  })

  test('refuses a secret that no longer signs', () => {
    const headers = signWebhook(message(), { secrets: [newer], eventKey })
    expect(() => verifier(older).verify(body, headers)).toThrow('No matching signature')
  })

  test.each([
    ['another id', { 'webhook-id': 'msg_2' }],
    ['another time', { 'webhook-timestamp': `${Math.floor(Date.now() / 1_000) - 60}` }],
  ])('refuses %s', (_says, changed) => {
    const headers = signWebhook(message(), { secrets: [newer], eventKey })
    const forged = { ...headers, ...changed }
    expect(() => verifier(newer).verify(body, forged)).toThrow('No matching signature')
  })

  test('refuses another body, and an old one', () => {
    const headers = signWebhook(message(), { secrets: [newer], eventKey })
    expect(() => verifier(newer).verify('{}', headers)).toThrow('No matching signature')
    const old = signWebhook(message({ timestamp: 1_614_265_330 }), { secrets: [newer], eventKey })
    expect(() => verifier(newer).verify(body, old)).toThrow('too old')
  })
})

describe('the public key', () => {
  const shown = webhookPublicKeyText(createPublicKey(eventKey))

  /** Verifies as a receiver does who has only the text of the key. */
  function accepts(text: string, signed: string, signature: string): boolean {
    const x = Buffer.from(text.slice('whpk_'.length), 'base64').toString('base64url')
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    const [version, base64 = ''] = signature.split(',')
    return (
      version === 'v1a' && verify(null, Buffer.from(signed), key, Buffer.from(base64, 'base64'))
    )
  }

  test('is the same of the private key', () => {
    expect(webhookPublicKeyText(eventKey)).toBe(shown)
  })

  test('verifies what was signed, and nothing else', () => {
    const from = message({ timestamp: 1_700_000_000 })
    const signature = signaturesOf(from, { secrets: [newer], eventKey }).at(-1) ?? ''
    expect(accepts(shown, `msg_1.1700000000.${body}`, signature)).toBe(true)
    expect(accepts(shown, `msg_1.1700000001.${body}`, signature)).toBe(false)
    expect(accepts(shown, `msg_2.1700000000.${body}`, signature)).toBe(false)
    const other = webhookPublicKeyText(generateKeyPairSync('ed25519').publicKey)
    expect(accepts(other, `msg_1.1700000000.${body}`, signature)).toBe(false)
  })

  test('is of no other kind of key', () => {
    const { publicKey } = generateKeyPairSync('x25519')
    expect(() => webhookPublicKeyText(publicKey)).toThrow('Ed25519')
  })
})

describe('a message', () => {
  test('has one signature for each secret, newest first, and one of the installation', () => {
    const from = message()
    const signed = Buffer.concat([Buffer.from(`${from.id}.${from.timestamp}.`), body])
    const v1 = (secret: Uint8Array) =>
      `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`
    const [first, second, third, ...more] = signaturesOf(from, {
      secrets: [newer, older],
      eventKey,
    })
    expect([first, second, more]).toEqual([v1(newer), v1(older), []])
    expect(third).toMatch(/^v1a,[A-Za-z0-9+/]{86}==$/)
  })

  test.each([
    ['an id with a full stop', { id: 'a.1' }],
    ['an id with a line break', { id: 'a\nb' }],
    ['no id', { id: '' }],
    ['half a second', { timestamp: 1.5 }],
    ['no time', { timestamp: Number.NaN }],
  ])('is not signed with %s', (_says, more) => {
    expect(() => signWebhook(message(more), { secrets: [newer], eventKey })).toThrow('invariant')
  })

  test.each([
    ['no secret', []],
    ['a short secret', [new Uint8Array(23)]],
    ['a long secret', [new Uint8Array(65)]],
  ])('is not signed by %s', (_says, secrets) => {
    expect(() => signWebhook(message(), { secrets, eventKey })).toThrow('invariant')
  })

  test('is signed by the seed of RFC 8032', () => {
    const seed = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'
    const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
    const der = Buffer.concat([prefix, Buffer.from(seed, 'hex')])
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    expect(webhookPublicKeyText(key)).toBe('whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=')
  })
})

test('a secret is not printed', () => {
  expect(`${webhookSecretText(newer)} ${JSON.stringify(webhookSecretText(newer))}`).toBe(
    '[secret] "[secret]"',
  )
})
