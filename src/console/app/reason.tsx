/**
 * Reasons of the vault in words of people, each with its code, which logs and metrics name.
 * @module
 */
import { Text } from './value.tsx'

/** Codes that say less than these words; all others are words already. */
const words: Readonly<Record<string, string>> = {
  invalid_request: 'mistake in the request',
  unauthenticated: 'key not accepted',
  forbidden: 'key may not do it',
  conflict: 'does not fit what is stored',
  payload_too_large: 'body too long',
  uri_too_long: 'address too long',
  unsupported_media_type: 'wrong content type',
  unsupported_content_coding: 'body is compressed',
  storage_full: 'disk is full',
  storage_corrupt: 'stored data is damaged',
  unavailable: 'not available for a while',
  overloaded: 'vault is busy',
  internal: 'fault of the vault',
  replay: 'answer given again',
  no_public_address: 'no public address',
  not_https: 'address is not https',
  malformed: 'no whole answer of HTTP',
  tls: 'no TLS with it',
  timeout: 'no answer in time',
  too_large: 'answer too long',
  connection: 'no connection',
}

export function Reason({ of }: { readonly of: string }) {
  const text = Object.hasOwn(words, of) ? words[of] : undefined
  if (text === undefined) return <Text of={of.replaceAll('_', ' ')} />
  return (
    <>
      {text} <code>{of}</code>
    </>
  )
}
