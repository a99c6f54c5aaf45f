/**
 * Settings of what a server puts elsewhere: checkpoints of its audit log.
 * @module
 */
import { expect, test } from 'bun:test'
import { decodeConfig } from '../../src/settings/config.ts'
import { expectRefusal } from '../support/refusal.ts'

test('the place of checkpoints is an address in a bucket, by flag, variable or file', () => {
  const place = 's3://kept-elsewhere/vault-1'
  expect(decodeConfig({ auditCheckpointsTo: place }).checkpointsTo).toBe(place)
  const text = JSON.stringify({ audit_checkpoints_to: place })
  const file = { path: '/etc/c.json', bytes: Buffer.from(text) }
  expect(decodeConfig({}, file).checkpointsTo).toBe(place)
  expect(decodeConfig({}).checkpointsTo).toBeUndefined()
})

test.each(['', 'a-folder', '/srv/kept', 'https://host/bucket', 's3://', 's3://B/x', 's3://b?x=1'])(
  'a place that is %p is refused, and not repeated',
  auditCheckpointsTo => {
    const { message } = expectRefusal(() => decodeConfig({ auditCheckpointsTo }), [])
    expect(message).toBe(
      '--audit-checkpoints-to or COFFER_AUDIT_CHECKPOINTS_TO: ' +
        'expected an address such as s3://bucket/prefix',
    )
  },
)
