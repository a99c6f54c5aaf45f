/**
 * Bodies of requests and answers about sessions, for the documentation. Source: spec, "Sessions".
 *
 * @module
 */

const nonce = '5HpqGpaxdkQ2c3WZrJkEvR'

export const newSessionExamples = {
  session: {
    session_key: 'key_sess_7LQZdbR1i9s8XyMtVw3PnC',
    nonce,
    expires_at: '2026-03-01T08:26:14.000+00:00',
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
