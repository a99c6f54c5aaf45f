/**
 * Answers about the audit log, for the documentation.
 * @module
 */

const entry = {
  id: '4711',
  sequence: 4711,
  tenant_id: '4a0cf0f6-6c2c-4f9d-9b7e-1f2f2a0f5b3c',
  actor_id: '0e3a9d3c-5d0f-4ac5-b4cb-3f0f2c7c5a44',
  actor_type: 'private',
  key_id: '7c1f0c52-1f6e-4a53-9f0b-6a3b0a2f4d11',
  operation: 'getToken',
  entity_type: 'token',
  entity_id: 'c06d0789-0a38-40be-b7cc-c28a718f76f1',
  transform: 'reveal',
  rule: 'rule 0',
  result: 200,
  stated_reason: 'Case 4711: the customer asked which card is stored.',
  message: 'getToken was answered with 200.',
  trace_id: 'checkout-4711',
  from: '192.0.2.7',
  created_at: '2026-03-01T08:23:14.120+00:00',
}

export const logListExamples = {
  page: {
    pagination: { total_items: 1, page_number: 1, page_size: 20, total_pages: 1 },
    data: [entry],
  },
  walk: { pagination: { page_size: 20 }, data: [entry] },
}
