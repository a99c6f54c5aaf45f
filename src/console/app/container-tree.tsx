/**
 * Containers as a tree of buttons: one opens what is below, one lists the tokens.
 * @module
 */
import { useSignal } from '@preact/signals'
import type { ContainerList, ListedContainer } from '../../client/interface.ts'
import { useAnswer } from './asked.ts'
import { printCount } from './figures.ts'
import { Answer, Empty } from './notices.tsx'
import { showContainer } from './search.ts'
import { may } from './sitting.ts'
import { Text } from './value.tsx'
import { withQueryOf } from './vault.ts'

const countText = (tokens: number): string =>
  tokens === 1 ? '1 token' : `${printCount(tokens)} tokens`

interface BranchProps {
  readonly of: ListedContainer
  /** Container above it. */
  readonly above: string
}

function Branch({ of: { container, tokens }, above }: BranchProps) {
  const isOpen = useSignal(false)
  return (
    <li>
      <button
        type="button"
        class="toggle"
        aria-expanded={isOpen.value}
        aria-label={`Below ${container}`}
        onClick={() => {
          isOpen.value = !isOpen.value
        }}
      >
        <span aria-hidden="true">{isOpen.value ? '▾' : '▸'}</span>
      </button>{' '}
      <button type="button" class="link" onClick={() => showContainer(container)}>
        <Text of={container.slice(above.length)} />
        <span class="unseen"> below {above}</span>
      </button>{' '}
      <span class="hint">{countText(tokens)}</span>
      {isOpen.value && <Level of={container} />}
    </li>
  )
}

function Shown({ of: { container, tokens, below, is_complete } }: { readonly of: ContainerList }) {
  return (
    <>
      {tokens > 0 && below.length > 0 && (
        <p class="hint">
          {countText(tokens)} in <Text of={container} /> itself
        </p>
      )}
      <ul class="branches">
        {below.map(each => (
          <Branch key={each.container} of={each} above={container} />
        ))}
      </ul>
      {!is_complete && (
        <p class="hint">
          These are the containers of the newest tokens. There are more:{' '}
          {may('token:search') ? (
            <>
              search for <code>container:</code> and the beginning of one, then <code>*</code>.
            </>
          ) : (
            <>
              write one into the field <em>Container</em> above.
            </>
          )}
        </p>
      )}
    </>
  )
}

function Level({ of }: { readonly of: string }) {
  const { asked, again } = useAnswer<ContainerList>({
    path: withQueryOf('/containers', { below: of }),
  })
  return (
    <Answer asked={asked.value} what="containers" again={again}>
      {list =>
        list.below.length > 0 ? (
          <Shown of={list} />
        ) : of === '/' ? (
          <Empty title="No containers" />
        ) : (
          <p class="hint">Nothing further below.</p>
        )
      }
    </Answer>
  )
}

/** Asks once it is opened: each look is in the log. */
export function ContainerTree() {
  const isOpen = useSignal(false)
  return (
    <details
      class="tree"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open
      }}
    >
      <summary>Containers</summary>
      {isOpen.value && <Level of="/" />}
    </details>
  )
}
