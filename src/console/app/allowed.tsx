/**
 * Buttons that a key may press; in place of the others stands the permission that it lacks, so that
 * nobody presses what would be refused.
 * @module
 */
import type { ComponentChildren } from 'preact'
import { may } from './sitting.ts'

interface AllowedProps {
  /** Permissions, all of which are needed. */
  readonly by: readonly string[]
  /** Says what they are for, after "To": `end one`. */
  readonly does: string
  readonly children?: ComponentChildren
}

export function Allowed({ by, does, children }: AllowedProps) {
  const missing = by.filter(permission => !may(permission))
  if (missing.length === 0) return <>{children}</>
  return (
    <p class="hint">
      To {does} it takes a key with{' '}
      {missing.map((permission, index) => (
        <span key={permission}>
          {index > 0 && ' and '}
          <code>{permission}</code>
        </span>
      ))}
      .
    </p>
  )
}
