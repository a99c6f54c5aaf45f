/**
 * Refusals over HTTP: a problem document with the right status and no echo of the request.
 * @module
 */
import { expect } from 'bun:test'
import type { Answer } from './vault.ts'

/**
 * @param paths of `errors`, in any order; not checked when absent
 * @param secrets that must not be in the answer
 */
export function expectProblem(
  answer: Answer,
  status: number,
  paths?: readonly string[],
  secrets: readonly string[] = [],
): void {
  expect([answer.status, answer.body['status']]).toEqual([status, status])
  expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
  if (paths !== undefined) {
    expect(Object.keys(answer.body['errors'] ?? {}).toSorted()).toEqual(paths.toSorted())
  }
  for (const secret of ['canary', ...secrets]) expect(answer.text).not.toContain(secret)
}
