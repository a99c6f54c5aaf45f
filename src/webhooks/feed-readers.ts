/**
 * Readers who wait for events: few of one credential, and a bounded number in all.
 *
 * decision: a tenant with fewer readers than one credential may have is never refused for those of
 * other tenants. Only an operator makes tenants, so the number in all stays bounded.
 * @module
 */
import type { Caller } from '../rules/caller.ts'
import { makeCounts } from '../lib/owner-counts.ts'
import { ApiError, tooManyRequests } from '../lib/errors.ts'

/**
 * Lets in one more reader of a credential.
 * @returns a function that lets it out; it may be called again
 * @throws ApiError `too_many_requests`, `overloaded`
 */
type EnterReader = (caller: Pick<Caller, 'tenantId' | 'credential'>) => () => void

/** @param what is bounded, as refusals name it */
export function boundReaders(max: { readonly own: number; readonly all: number }, what: string) {
  const byCredential = makeCounts<number>()
  const byTenant = makeCounts<string>()
  let all = 0
  const enter: EnterReader = ({ tenantId, credential: { ordinal } }) => {
    if (byCredential.of(ordinal) >= max.own) {
      throw tooManyRequests(`This credential has ${max.own} ${what}: end one, or wait.`, 1)
    }
    if (all >= max.all && byTenant.of(tenantId) >= max.own) {
      throw new ApiError('overloaded', `All ${max.all} ${what} are taken.`)
    }
    const change = (by: 1 | -1): void => {
      byCredential.change(ordinal, by)
      byTenant.change(tenantId, by)
      all += by
    }
    change(1)
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      change(-1)
    }
  }
  return enter
}
