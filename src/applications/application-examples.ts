/**
 * Bodies of requests and answers about applications, for the documentation. Source: spec,
 * "Applications".
 *
 * @module
 */

const rule = {
  description: 'Card numbers, masked',
  priority: 1,
  container: '/pci/',
  transform: 'mask',
  permissions: ['token:create', 'token:read'],
}

const application = {
  id: '0e3a9d3c-5d0f-4ac5-b4cb-3f0f2c7c5a44',
  tenant_id: '77cb0024-123e-41a8-8ff8-a3d5a0fa8a08',
  name: 'Checkout backend',
  type: 'private',
  permissions: [],
  rules: [rule],
  created_by: '1b6f6b9a-3f5e-4e0b-9a53-2f0c1a7a9d10',
  created_at: '2026-03-01T08:20:00.000+00:00',
}

export const createApplicationExamples = {
  backend: { name: 'Checkout backend', type: 'private', rules: [rule] },
  browser: { name: 'Checkout page', type: 'public', permissions: ['token:create'] },
  deploy: {
    name: 'Deployment',
    type: 'management',
    permissions: ['application:read', 'application:update'],
    expires_at: '1/1/2036',
  },
}

export const newApplicationExamples = {
  backend: { ...application, key: 'key_3wVZ9mFqTnL5hYpKcR8sXb' },
}

export const updateApplicationExamples = {
  backend: { name: 'Checkout backend', rules: [{ ...rule, transform: 'redact' }] },
}

export const applicationExamples = { backend: application }

export const applicationListExamples = {
  page: {
    pagination: { total_items: 1, page_number: 1, page_size: 20, total_pages: 1 },
    data: [application],
  },
}
