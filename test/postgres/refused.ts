/**
 * Refusal of a database by a command: one line that repeats no address, password or value.
 * @module
 */
import { expect } from 'bun:test'
import { withoutWarnings, type Ended } from '../support/coffer-process.ts'

export function expectRefused({ exitCode, stdout, stderr }: Ended, says: string, code = 1): void {
  const said = withoutWarnings(stderr)
  expect([exitCode, stdout]).toEqual([code, ''])
  expect(said).toContain(says)
  expect(said.trim().split('\n')).toHaveLength(1)
  // The refusal shows the expected form by this example.
  const own = said.replace('postgres://user@host/name', '')
  expect(own).not.toMatch(/postgres:\/\/|hunter2|[0-9a-f]{16}| at .*:\d+:\d+/)
}
