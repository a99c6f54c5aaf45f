/**
 * One sitting: its keys, in memory alone, from its login to the lock.
 * @module
 */
import { signal } from '@preact/signals'
import type { Application } from '../../client/interface.ts'

/** Holder of the key. */
export interface Owner {
  /** Absent for a session, which is told none. */
  readonly id?: string
  readonly name: string
  readonly type: Application['type'] | 'session'
  /** Absent for a session as well. */
  readonly permissions?: ReadonlySet<string>
}

/** By the application itself, or by a rule. */
export const permissionsOf = ({ permissions, rules }: Application): ReadonlySet<string> =>
  new Set([...permissions, ...rules.flatMap(rule => rule.permissions)])

let key: string | undefined
let logKey: string | undefined
let underWay = new AbortController()
const forgetters = new Set<() => void>()

/** Application that the key is of, while the console is open. */
export const owner = signal<Owner | undefined>(undefined)
export interface LockReason {
  readonly text: string
  /** True if something was wrong; locking itself is not. */
  readonly isFault: boolean
}

/** Reason of the last lock, for the person. */
export const lockReason = signal<LockReason | undefined>(undefined)

export const keyInUse = (): string | undefined => key

/** Key that reads the log for one that may not: no key holds both `token:read` and `log:read`. */
export const logKeyInUse = (): string | undefined => logKey

/** True if the key holds a permission, plainly or by a rule; a session may hold those of tokens. */
export function may(permission: string): boolean {
  const { permissions } = owner.value ?? {}
  return permissions?.has(permission) ?? permission.startsWith('token:')
}

/** Aborts when the console locks. */
export const sittingSignal = (): AbortSignal => underWay.signal

/** @param forget is called at each lock, and drops what it holds */
export const onLock = (forget: () => void): void => void forgetters.add(forget)

/** Takes a key, which nothing has tried yet. */
export function holdKey(typed: string): void {
  key = typed
}

/** @param typed nothing has tried it yet; `undefined` forgets the one that is held */
export function holdLogKey(typed: string | undefined): void {
  logKey = typed
}

export function open(found: Owner): void {
  lockReason.value = undefined
  owner.value = found
}

/** Forgets the key and all that it has shown. */
export function lock(reason?: LockReason): void {
  key = undefined
  logKey = undefined
  underWay.abort()
  underWay = new AbortController()
  lockReason.value = reason
  owner.value = undefined
  for (const forget of forgetters) forget()
}
