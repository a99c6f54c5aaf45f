/**
 * Tokens: all that the key may see, or those that a query finds, in stretches of a walk.
 * @module
 */
import { Fragment } from 'preact'
import { useRef } from 'preact/hooks'
import type { Token, TokenList } from '../../client/interface.ts'
import { nothing, useAnswer } from './asked.ts'
import { ContainerTree } from './container-tree.tsx'
import { hasMembers } from './exact-json.ts'
import { listedMembersMax, listedPairsMax, rowsMax } from './limits.ts'
import { ListFilterForm, listPath } from './list-filters.tsx'
import { Answer, Empty } from './notices.tsx'
import { openToken } from './place.ts'
import { mistakeId, mistakeIn, QueryMistake } from './query-mistake.tsx'
import { SearchField } from './search-field.tsx'
import { find, isFiltered, searched, showBy, starts, typed } from './search.ts'
import { may } from './sitting.ts'
import { Steps } from './steps.tsx'
import { Instant } from './instant.tsx'
import type { KnownWords } from './suggestions.ts'
import { Table } from './table.tsx'
import { Id, Path, Text } from './value.tsx'
import type { Question } from './vault.ts'

const noWords: KnownWords = { metadata: [], containers: [] }

/** Asks what the key may ask: of a list and a search it may hold one alone. */
function questionOf(query: string, start: string): Question {
  // A value is on the page of its token alone, once it was asked for.
  const paging = { start, size: rowsMax, transform: 'mask' }
  if (!may('token:search') || (query === '' && may('token:read'))) {
    return { path: listPath(paging) }
  }
  const body = { query: query === '' ? '*' : query, ...paging }
  return { method: 'POST', path: '/v2/tokens/search', body }
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '')

/** Members of an object one after the other, since a line of JSON is hard to read. */
const preview = ({ data }: Token): string =>
  hasMembers(data)
    ? Object.entries(data)
        .slice(0, listedMembersMax)
        .map(([name, value]) => `${name}: ${textOf(value)}`)
        .join(' · ')
    : textOf(data)

/** The first pairs, in one line. */
const Metadata = ({ of }: { readonly of: readonly (readonly [string, string])[] }) =>
  of.length === 0 ? null : (
    <div class="hint">
      {of.slice(0, listedPairsMax).map(([name, value], index) => (
        <Fragment key={name}>
          {index > 0 && ' · '}
          <Text of={`${name}: ${value}`} />
        </Fragment>
      ))}
      {of.length > listedPairsMax && ` · ${of.length - listedPairsMax} more`}
    </div>
  )

const Row = ({ token }: { readonly token: Token }) => (
  <tr>
    <th scope="row" data-label="Id">
      {may('token:read') ? (
        <button type="button" class="link" onClick={() => openToken(token.id)}>
          <Id of={token.id} />
        </button>
      ) : (
        <Id of={token.id} />
      )}
    </th>
    <td data-label="Type">{token.type}</td>
    <td data-label="Value">
      {token.data === undefined ? (
        <span class="hint">not shown</span>
      ) : (
        <Text of={preview(token)} />
      )}
      <Metadata of={Object.entries(token.metadata ?? {})} />
    </td>
    <td data-label="Container">
      <Path of={token.containers?.[0] ?? ''} />
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
  isFiltered() ? (
    <Empty title="Nothing found">
      <p>No token that this key may see fits all of these fields. Clear those that may be wrong.</p>
    </Empty>
  ) : query === '' ? (
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

interface FormProps {
  readonly known: KnownWords
  readonly mistake: string | undefined
}

function SearchForm({ known, mistake }: FormProps) {
  const submit = (event: Event): void => {
    event.preventDefault()
    showBy(() => find(typed.value))
  }
  return (
    <form class="search" role="search" onSubmit={submit} autocomplete="off">
      <label for="query">Search</label>
      <div class="row">
        <SearchField known={known} mistake={mistake} />
        <button type="submit" class="primary">
          Find
        </button>
      </div>
      <details class="hint">
        <summary>How to search</summary>
        <p>
          Write <code>field:value</code>, such as <code>metadata.order:17</code>; fields are{' '}
          <code>id</code>, <code>type</code>, <code>data</code>, <code>fingerprint</code>,{' '}
          <code>container</code>, <code>metadata.name</code>, <code>created_by</code>,{' '}
          <code>created_at</code>, <code>modified_by</code> and <code>modified_at</code>. Join them
          by <code>AND</code>, <code>OR</code>, <code>NOT</code>; put values with blanks in
          quotation marks. All below a container: <code>container:/pci/*</code>. From a day on:{' '}
          <code class="whole">created_at:[2026-01-01T00:00:00Z TO *]</code>.
        </p>
      </details>
    </form>
  )
}

/** Words of the tokens that are shown. */
function wordsOf(tokens: readonly Token[]): KnownWords {
  const metadata = tokens.flatMap(each => Object.keys(each.metadata ?? {}))
  const containers = tokens.flatMap(each => each.containers ?? [])
  return { metadata: [...new Set(metadata)], containers: [...new Set(containers)] }
}

export function TokensScreen() {
  const question = questionOf(searched.value, starts.value.at(-1) ?? '')
  const { asked, again } = useAnswer<TokenList>(question)
  const words = useRef(noWords)
  const { value } = asked
  if (value.state === 'answered') words.current = wordsOf(value.value.data)
  const mistake = value.state === 'refused' ? mistakeIn(value.refusal.text) : undefined
  return (
    <>
      <h1 tabIndex={-1}>Tokens</h1>
      {may('token:search') ? (
        <SearchForm known={words.current} mistake={mistake && mistakeId} />
      ) : (
        may('token:read') && <ListFilterForm />
      )}
      {may('token:read') && <ContainerTree />}
      {searched.value !== '' && (
        <p>
          <button type="button" class="link" onClick={() => showBy(() => find(''))}>
            All tokens
          </button>
        </p>
      )}
      {mistake !== undefined && <QueryMistake mistake={mistake} />}
      <Answer asked={mistake === undefined ? value : nothing} what="tokens" again={again}>
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
