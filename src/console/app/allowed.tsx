/**
 * What a key may do, and what it lacks for the rest: told where the button would be, before somebody
 * presses it.
 * @module
 */
import type { ComponentChildren } from 'preact'
import { may } from './sitting.ts'

interface AllowedProps {
  /** Permissions, all of which are needed. */
  readonly by: readonly string[]
  /** What they are for, after "To": `end one`. */
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
