/**
 * Tokens: all that the key may see, or those that a query finds, in stretches of a walk.
 * @module
 */
import { signal, useSignal } from '@preact/signals'
import type { Token, TokenList } from '../../client/interface.ts'
import { useAnswer } from './asked.ts'
import { rowsMax } from './limits.ts'
import { Answer, Empty } from './notices.tsx'
import { openToken } from './place.ts'
import { onLock } from './sitting.ts'
import { Steps } from './steps.tsx'
import { Instant } from './instant.tsx'
import { Table } from './table.tsx'
import { Id, Text } from './value.tsx'
import { withQueryOf, type Question } from './vault.ts'

/** Kept while a token of the list is looked at. */
const searched = signal('')
/** Cursors of the stretches before, newest last. */
const starts = signal<readonly string[]>([''])
onLock(() => {
  searched.value = ''
  starts.value = ['']
})

function questionOf(query: string, start: string): Question {
  // A value is on the page of its token alone, once it was asked for.
  const transform = 'mask'
  if (query === '') return { path: withQueryOf('/v2/tokens', { start, size: rowsMax, transform }) }
  const body = { query, start, size: rowsMax, transform }
  return { method: 'POST', path: '/v2/tokens/search', body }
}

const preview = ({ data }: Token): string =>
  data === undefined ? '' : typeof data === 'string' ? data : JSON.stringify(data)

const Row = ({ token }: { readonly token: Token }) => (
  <tr>
    <th scope="row" data-label="Id">
      <button type="button" class="link" onClick={() => openToken(token.id)}>
        <Id of={token.id} />
      </button>
    </th>
    <td data-label="Type">{token.type}</td>
    <td data-label="Value">
      {token.data === undefined ? (
        <span class="hint">not shown</span>
      ) : (
        <Text of={preview(token)} />
      )}
    </td>
    <td data-label="Container">
      <Text of={token.containers?.[0] ?? ''} />
    </td>
    <td data-label="Created">{token.created_at && <Instant of={String(token.created_at)} />}</td>
  </tr>
)

const Rows = ({ tokens }: { readonly tokens: readonly Token[] }) => (
  <Table caption="Tokens" columns={['Id', 'Type', 'Value', 'Container', 'Created']}>
    {tokens.map(token => (
      <Row key={token.id} token={token} />
    ))}
  </Table>
)

const NothingFound = ({ query }: { readonly query: string }) =>
  query === '' ? (
    <Empty title="No tokens">
      <p>There is none that this key may see. Tokens appear here once an application makes them.</p>
    </Empty>
  ) : (
    <Empty title="Nothing found">
      <p>
        No token that this key may see fits. Values are found only as far as they were indexed: a
        part of a value, or hidden data, is not.
      </p>
    </Empty>
  )

function SearchForm() {
  const typed = useSignal(searched.value)
  const submit = (event: Event): void => {
    event.preventDefault()
    searched.value = typed.value.trim()
    starts.value = ['']
  }
  return (
    <form class="search" role="search" onSubmit={submit} autocomplete="off">
      <label for="query">Search</label>
      <div class="row">
        <input
          id="query"
          type="search"
          value={typed.value}
          autocomplete="off"
          spellcheck={false}
          placeholder="type:card AND metadata.order:17"
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value
          }}
        />
        <button type="submit" class="primary">
          Find
        </button>
      </div>
      <details class="hint">
        <summary>How to search</summary>
        <p>
          Write <code>field:value</code>, such as <code>metadata.order:17</code>; fields are{' '}
          <code>id</code>, <code>type</code>, <code>data</code>, <code>fingerprint</code>,{' '}
          <code>container</code>, <code>metadata.name</code>, <code>created_by</code> and{' '}
          <code>created_at</code>. Join them by <code>AND</code>, <code>OR</code>, <code>NOT</code>;
          put values with blanks in quotation marks. All below a container:{' '}
          <code>container:/pci/*</code>. From a day on:{' '}
          <code>created_at:[2026-01-01T00:00:00Z TO *]</code>.
        </p>
      </details>
    </form>
  )
}

/** Says how to search, where the vault did not understand what was typed. */
const SearchHint = () => (
  <p class="hint">
    Name the field before what you look for: <code>metadata.order:17</code>, <code>id:…</code>,{' '}
    <code>type:card</code>.
  </p>
)

export function TokensScreen() {
  const question = questionOf(searched.value, starts.value.at(-1) ?? '')
  const { asked, again } = useAnswer<TokenList>(question)
  return (
    <>
      <h1 tabIndex={-1}>Tokens</h1>
      <SearchForm />
      {asked.value.state === 'refused' && asked.value.refusal.status === 400 && <SearchHint />}
      <Answer asked={asked.value} what="tokens" again={again}>
        {({ data, pagination }) => (
          <>
            {data.length === 0 ? <NothingFound query={searched.value} /> : <Rows tokens={data} />}
            <Steps starts={starts} next={'next' in pagination ? pagination.next : undefined} />
          </>
        )}
      </Answer>
    </>
  )
}
