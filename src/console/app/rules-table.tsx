/**
 * Rules in the order in which they are tried.
 * @module
 */
import type { Rule } from '../../client/interface.ts'
import { Empty } from './notices.tsx'
import { Table } from './table.tsx'
import { Path, Text } from './value.tsx'

const Row = ({ rule, place }: { readonly rule: Rule; readonly place: number }) => (
  <tr>
    <th scope="row" class="whole" data-label="Rule">
      rule {place}
    </th>
    <td data-label="Priority">{rule.priority}</td>
    <td data-label="Container">
      <Path of={rule.container} />
    </td>
    <td data-label="Shows">
      <span class={`badge ${rule.transform}`}>{rule.transform}</span>
    </td>
    <td data-label="Permissions">{rule.permissions.join(', ')}</td>
    <td data-label="Note">{rule.description && <Text of={rule.description} />}</td>
  </tr>
)

export const RuleOrder = () => (
  <p class="hint">
    Rules are tried from the smallest priority up: the first that covers a token and holds the
    permission decides; plain permissions come last.
  </p>
)

export const RulesTable = ({ of }: { readonly of: readonly Rule[] }) =>
  of.length === 0 ? (
    <Empty title="No rules">
      <p>Its plain permissions alone decide: they cover every container, and mask.</p>
    </Empty>
  ) : (
    <>
      <RuleOrder />
      <Table
        caption="Rules"
        columns={['Rule', 'Priority', 'Container', 'Shows', 'Permissions', 'Note']}
      >
        {of.map((rule, place) => (
          <Row key={place} rule={rule} place={place} />
        ))}
      </Table>
    </>
  )
