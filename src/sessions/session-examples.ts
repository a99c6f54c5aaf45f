/**
 * Bodies of requests and answers about sessions, for the documentation. Source: spec, "Sessions".
 *
 * @module
 */

const nonce = '5HpqGpaxdkQ2c3WZrJkEvR'

const id = '7c1f0c52-1f6e-4a53-9f0b-6a3b0a2f4d11'

export const newSessionExamples = {
  session: {
    id,
    session_key: 'key_sess_7LQZdbR1i9s8XyMtVw3PnC',
    nonce,
    expires_at: '2026-03-01T08:26:14.000+00:00',
  },
}

export const sessionListExamples = {
  walk: {
    pagination: { page_size: 20 },
    data: [
      {
        id,
        tenant_id: '4a0cf0f6-6c2c-4f9d-9b7e-1f2f2a0f5b3c',
        created_by: '0e3a9d3c-5d0f-4ac5-b4cb-3f0f2c7c5a44',
        created_at: '2026-03-01T08:23:14.000+00:00',
        authorized: true,
        authorized_by: '9d0a1c5e-3b77-4c2e-8f6a-5e1d7b9c0a22',
        authorized_at: '2026-03-01T08:23:15.120+00:00',
        expires_at: '2026-03-01T08:26:14.000+00:00',
      },
    ],
  },
}

export const authorizeSessionExamples = {
  permissions: { nonce, permissions: ['token:create'] },
  rules: {
    nonce,
    rules: [
      {
        description: 'The card of one order',
        priority: 1,
        conditions: [
          { attribute: 'id', operator: 'starts_with', value: 'order-A-1027' },
          { attribute: 'container', operator: 'equals', value: '/pci/high/' },
        ],
        transform: 'reveal',
        permissions: ['token:read', 'token:use'],
      },
      {
        priority: 2,
        container: '/pci/',
        transform: 'mask',
        permissions: ['token:read'],
      },
    ],
  },
}
