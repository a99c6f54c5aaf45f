/**
 * A table with a caption and column heads for screen readers; narrow pages show its rows as cards.
 * @module
 */
import type { ComponentChildren } from 'preact'
import { may } from './sitting.ts'

interface TableProps {
  readonly caption: string
  readonly columns: readonly string[]
  /** Name of a last column, of buttons, whose head is not seen. */
  readonly action?: string
  /** Rows. */
  readonly children: ComponentChildren
}

/** Names a column of buttons, if the key may press them. */
export const actionIf = (permission: string, action: string) => (may(permission) ? { action } : {})

export const Table = ({ caption, columns, action, children }: TableProps) => (
  <table>
    <caption class="unseen">{caption}</caption>
    <thead>
      <tr>
        {columns.map(name => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
        {action !== undefined && (
          <th scope="col">
            <span class="unseen">{action}</span>
          </th>
        )}
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
)
