/**
 * One token: its value as far as the key sees it, why, its facts and its history.
 * @module
 */
import { useSignal } from '@preact/signals'
import type { Token } from '../../client/interface.ts'
import { Maker } from './application-name.tsx'
import { useAnswer } from './asked.ts'
import { Decided } from './decided.tsx'
import { Facts } from './facts.tsx'
import { Instant } from './instant.tsx'
import { Answer, Refused } from './notices.tsx'
import { chosenToken, go } from './place.ts'
import { isFiltered, searched } from './search.ts'
import { TokenHistory } from './token-history.tsx'
import { TokenValue } from './token-value.tsx'
import { Id, Items, Text, Value } from './value.tsx'
import { canBeAsked, pathTo } from './vault.ts'

const factsOf = (token: Token) =>
  [
    ['Type', token.type],
    ['Expires', token.expires_at && <Instant of={String(token.expires_at)} />],
    [
      'Security code ends',
      token._extras?.cvc_expires_at && <Instant of={String(token._extras.cvc_expires_at)} />,
    ],
    ['Fingerprint', token.fingerprint && <Id of={token.fingerprint} />],
    ['Created', token.created_at && <Instant of={String(token.created_at)} />],
    ['Created by', token.created_by && <Maker id={token.created_by} />],
    ['Modified', token.modified_at && <Instant of={String(token.modified_at)} />],
    ['Modified by', token.modified_by && <Maker id={token.modified_by} />],
  ] as const

const Metadata = ({ of }: { readonly of: Readonly<Record<string, string>> }) => (
  <Items
    of={Object.entries(of)}
    show={([name, value]) => (
      <>
        <Text of={name} />: <Text of={value} />
      </>
    )}
  />
)

function Containers({ of }: { readonly of: readonly string[] }) {
  return <Items of={of} show={container => <Id of={container} />} />
}

interface ShownProps {
  readonly token: Token
  readonly onRevealed: () => void
}

const Shown = ({ token, onRevealed }: ShownProps) => (
  <>
    <TokenValue token={token} onRevealed={onRevealed} />
    {token._extras?.access !== undefined && <Decided access={token._extras.access} />}
    <section aria-labelledby="facts-title">
      <h2 id="facts-title">Facts</h2>
      <Facts of={factsOf(token)} />
    </section>
    <div class="beside">
      <section aria-labelledby="containers-title">
        <h2 id="containers-title">Containers</h2>
        <Containers of={token.containers ?? []} />
      </section>
      {token.metadata !== undefined && (
        <section aria-labelledby="metadata-title">
          <h2 id="metadata-title">Metadata</h2>
          <Metadata of={token.metadata} />
        </section>
      )}
    </div>
    {token.mask !== undefined && (
      <section aria-labelledby="mask-title">
        <h2 id="mask-title">Mask</h2>
        <Value of={token.mask} />
      </section>
    )}
  </>
)

const steps = { status: 400, text: 'No address leads to an id that is a step of a path.' }

interface AskedProps {
  readonly id: string
  readonly onRevealed: () => void
}

function Asked({ id, onRevealed }: AskedProps) {
  const path = `${pathTo('/tokens', id)}?explain=true&transform=mask`
  const { asked, again } = useAnswer<Token>({ path })
  return (
    <Answer asked={asked.value} what="the token" again={again}>
      {token => <Shown token={token} onRevealed={onRevealed} />}
    </Answer>
  )
}

export function TokenScreen() {
  const id = chosenToken.value
  const reveals = useSignal(0)
  const onRevealed = (): void => {
    reveals.value += 1
  }
  return (
    <>
      <p class="back">
        <button type="button" class="link" onClick={() => go('tokens')}>
          {searched.value !== '' || isFiltered() ? 'Back to what was found' : 'All tokens'}
        </button>
      </p>
      <h1 tabIndex={-1}>Token</h1>
      {id === undefined ? (
        <p class="hint">Choose a token from the list.</p>
      ) : (
        <>
          <p class="subject">
            <Id of={id} />
          </p>
          {canBeAsked(id) ? (
            <Asked key={id} id={id} onRevealed={onRevealed} />
          ) : (
            <Refused refusal={steps} />
          )}
          <TokenHistory key={`${reveals.value} ${id}`} id={id} />
        </>
      )}
    </>
  )
}
