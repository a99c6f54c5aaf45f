/**
 * Examples of requests and answers about tokens, for the documentation.
 *
 * Every request is one that a new vault accepts. None deduplicates: the documentation page sends
 * them as they stand, and a reader who tries one wants a new token. Card numbers are published test
 * numbers. Source: spec, "Token object", "Token create request fields"; contract sections 5 and 14.
 * @module
 */
import { cardDigitExpected } from '../rules/token-types.ts'

const id = 'c06d0789-0a38-40be-b7cc-c28a718f76f1'
const applicationId = '0e3a9d3c-5d0f-4ac5-b4cb-3f0f2c7c5a44'

const owned = {
  tenant_id: '77cb0024-123e-41a8-8ff8-a3d5a0fa8a08',
  created_by: applicationId,
  created_at: '2026-03-01T08:23:14.000+00:00',
}

const maskedCard = {
  id,
  type: 'card',
  data: { number: 'XXXXXXXXXXXX4242', expiration_month: 12, expiration_year: 2030 },
  mask: {
    number: '{{ data.number | reveal_last: 4 }}',
    expiration_month: '{{ data.expiration_month }}',
    expiration_year: '{{ data.expiration_year }}',
  },
  fingerprint: '4NkXZGhpQk5wUi2fmSHsWPnKVzLJqC9BdTr8vYeAt63M',
  containers: ['/pci/high/'],
  metadata: { order: 'A-1027' },
  ...owned,
  search_indexes: [],
  fingerprint_expression: '{{ data.number }}',
}

const person = {
  id: 'person-17',
  type: 'token',
  data: { name: 'XXX XXXXXXce', email: 'XXX@example.com' },
  mask: {
    name: '{{ data.name | reveal_last: 2 }}',
    email: "{{ data.email | split: '@' | last | prepend: 'XXX@' }}",
  },
  fingerprint: '9fVbQe2WuKcS7LpHkRjxZ4mTnYgD5A8tUq3oPzBaN6vC',
  containers: ['/pii/high/'],
  ...owned,
  search_indexes: ['{{ data.email | downcase }}'],
  fingerprint_expression: '{{ data.email | downcase }}',
  expires_at: '2036-08-26T19:23:57.000-07:00',
}

const cardData = {
  number: '4242424242424242',
  expiration_month: 12,
  expiration_year: 2030,
  cvc: '123',
}

export const createTokenExamples = {
  card: { type: 'card', data: cardData, metadata: { order: 'A-1027' } },
  bank: { type: 'bank', data: { routing_number: '021000021', account_number: '000123456789' } },
  person: {
    id: 'person-{{ data.number }}',
    type: 'token',
    data: { number: 17, name: 'Ada Lovelace', email: 'Ada@example.com' },
    mask: person.mask,
    containers: ['/pii/high/'],
    search_indexes: person.search_indexes,
    fingerprint_expression: person.fingerprint_expression,
    expires_at: '8/26/2036 7:23:57 PM -07:00',
  },
}

export const newTokenExamples = {
  card: maskedCard,
  deduplicating: { ...maskedCard, _extras: { deduplicated: false } },
  duplicate: {
    id,
    type: 'card',
    tenant_id: owned.tenant_id,
    fingerprint: maskedCard.fingerprint,
    containers: maskedCard.containers,
    _extras: { deduplicated: true },
  },
}

export const tokenExamples = {
  masked: maskedCard,
  revealed: { ...maskedCard, data: cardData },
}

export const updateTokenExamples = {
  merge: { data: { expiration_month: 1, cvc: null }, metadata: { order: 'A-1028' } },
  replace: { containers: ['/pci/low/'], expires_at: null },
}

const changed = { modified_by: applicationId, modified_at: '2026-03-02T10:00:00.000+00:00' }

export const changedTokenExamples = {
  card: {
    ...maskedCard,
    ...changed,
    data: { ...maskedCard.data, expiration_month: 1 },
    metadata: { order: 'A-1028' },
  },
}

const next = 'Vp3Jm0c8yQ5nq1Y2b7xTgk4dUe9RzLhWfAoSiCtMvNs'

/** Answers of lists and searches. */
export const tokenListExamples = {
  page: {
    pagination: { total_items: 1, page_number: 1, page_size: 20, total_pages: 1 },
    data: [maskedCard],
  },
  walk: { pagination: { next, page_size: 1 }, data: [person] },
}

export const searchExamples = {
  page: { query: 'type:card AND metadata.order:A-1027', page: 1, size: 20 },
  walk: { query: 'data:ada@example.com OR created_at:[2026-01-01 TO *]', start: '', size: 100 },
}

const bad = { type: 'card', data: { number: '4242424242424241' } }

export const tokenizeExamples = {
  whole: { name: 'Ada Lovelace', card: createTokenExamples.card },
  partial: ['Ada Lovelace', bad],
}

export const tokenizedExamples = {
  whole: { name: id, card: newTokenExamples.card },
  partial: {
    results: [
      { index: 0, path: '[0]', status: 201, token: id },
      {
        index: 1,
        path: '[1]',
        status: 400,
        error: {
          title: 'One or more validation errors occurred.',
          status: 400,
          detail: `data.number: ${cardDigitExpected}`,
          errors: { 'data.number': [cardDigitExpected] },
        },
      },
    ],
    retry: [bad],
  },
}

export const detokenizeExamples = {
  references: {
    name: "{{ person-17 | json: '$.name' }}",
    last4: `{{ ${id} | json: '$.number' | last4 }}`,
  },
}

export const detokenizedExamples = {
  references: { name: 'Ada Lovelace', last4: '4242' },
}

export const previewExamples = {
  card: {
    id: 'order-17-4242',
    type: 'card',
    data: maskedCard.data,
    mask: maskedCard.mask,
    containers: maskedCard.containers,
    search_indexes: ['{{ data.number | last4 }}'],
    search_texts: ['4242'],
    fingerprint_expression: '{{ data.number }}',
    fingerprint_text: '4242424242424242',
  },
}

export const containerExamples = {
  root: {
    container: '/',
    tokens: 0,
    below: [
      { container: '/general/', tokens: 1204 },
      { container: '/pci/', tokens: 52 },
    ],
    is_complete: true,
  },
}
