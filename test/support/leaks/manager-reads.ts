/**
 * Reads of a manager that take nothing but their address, by operation.
 * @module
 */

export const managerReads: Readonly<Record<string, string>> = {
  getLogCheckpoint: '/logs/checkpoint',
  listLogEntityTypes: '/logs/entity-types',
  listSessions: '/sessions?start=&size=10',
  getOwnTenant: '/tenants/self',
  listEventTypes: '/webhooks/event-types',
  listWebhooks: '/webhooks?size=10&start=',
  getWebhookPublicKey: '/webhooks/public-key',
  listEvents: '/events?after=0&types=token.created&wait=0',
  getStatus: '/status',
  getStatusHistory: '/status/history',
  listSettings: '/status/settings',
  listPermissions: '/permissions?application_type=private',
}
