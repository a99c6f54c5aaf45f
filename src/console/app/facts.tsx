/**
 * Facts about one thing, by name; those that it lacks are left out.
 * @module
 */
import type { ComponentChildren } from 'preact'

export type Fact = readonly [name: string, value: ComponentChildren]

const isTold = ([, value]: Fact): boolean =>
  value !== undefined && value !== null && value !== false && value !== ''

export const Facts = ({ of }: { readonly of: readonly Fact[] }) => (
  <dl class="facts">
    {of.filter(isTold).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt> <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
