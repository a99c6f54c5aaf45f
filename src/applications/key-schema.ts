/**
 * Wire shapes of the keys of an application. Source: contract section 15.
 *
 * The names are those of the family's published clients (`applicationKeys`), and beside them the
 * expiry and the day of the last use.
 * @module
 */
import { Type } from '@sinclair/typebox'
import { printInstantUtc } from '../rules/instants.ts'
import { expiryTextCharsMax, idFilterMax } from '../limits.ts'
import type { ShownKey } from './key-service.ts'
import { apiKeyPattern } from './keys.ts'

export const createKeySchema = Type.Object(
  {
    expires_at: Type.Optional(
      Type.Union([
        Type.String({
          maxLength: expiryTextCharsMax,
          description: 'From then on the key is refused.',
        }),
        Type.Null(),
      ]),
    ),
  },
  { title: 'CreateApplicationKeyRequest' },
)

export const keySchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    key: Type.Optional(
      Type.String({ pattern: apiKeyPattern, description: 'Only when it was just made.' }),
    ),
    version: Type.String({
      pattern: '^[1-9][0-9]*$',
      description: 'Counts the keys of its application.',
    }),
    created_by: Type.Optional(Type.String({ format: 'uuid' })),
    created_at: Type.Optional(Type.String({ format: 'date-time' })),
    expires_at: Type.Optional(Type.String({ format: 'date-time' })),
    last_used_on: Type.Optional(
      Type.String({ format: 'date', description: 'In UTC; written a little after the use.' }),
    ),
  },
  { title: 'ApplicationKey' },
)

export const listKeysQuery = Type.Object({
  id: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: idFilterMax,
      description: 'Ids of keys.',
      examples: [['4b2f8f0a-6a0e-4c55-9d5c-0a4b8f0c7e21']],
    }),
  ),
})

const example = {
  id: '4b2f8f0a-6a0e-4c55-9d5c-0a4b8f0c7e21',
  version: '2',
  created_by: '1b6f6b9a-3f5e-4e0b-9a53-2f0c1a7a9d10',
  created_at: '2026-03-01T08:20:00.000+00:00',
  expires_at: '2036-01-01T00:00:00.000+00:00',
}

export const keyExamples = { used: { ...example, last_used_on: '2026-03-04' } }
export const keyListExamples = { one: [keyExamples.used] }
export const newKeyExamples = { made: { ...example, key: 'key_3wVZ9mFqTnL5hYpKcR8sXb' } }
export const createKeyExamples = { lasting: {}, expiring: { expires_at: '1/1/2036' } }

/** The JSON text of a key; `secret` only right after it was made. */
export const printKey = ({ id, key }: ShownKey, secret?: string): string =>
  JSON.stringify({
    id,
    key: secret,
    version: String(key.number + 1),
    created_by: key.createdBy,
    created_at: key.createdAtMs === undefined ? undefined : printInstantUtc(key.createdAtMs),
    expires_at: key.expiresAt?.text,
    last_used_on: key.lastUsedOn,
  })
