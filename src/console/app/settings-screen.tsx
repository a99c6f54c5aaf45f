/**
 * Settings in force, and where each comes from.
 * @module
 */
import { useSignal } from '@preact/signals'
import type { ShownSetting, ShownSettings } from '../../client/interface.ts'
import { useAnswer } from './asked.ts'
import { printBytes } from './figures.ts'
import { Answer, Empty } from './notices.tsx'
import { Table } from './table.tsx'

const origins: Readonly<Record<ShownSetting['from'], string>> = {
  flag: 'flag',
  environment: 'variable',
  file: 'file',
  folder: 'the data folder',
  default: 'default',
  program: 'the program',
}

function valueText({ name, value, is_hidden: isHidden }: ShownSetting): string {
  if (isHidden === true) return 'set, not shown'
  if (value === undefined) return 'not set'
  if (value === '') return 'empty'
  if (typeof value === 'number' && name.includes('bytes')) return `${value} (${printBytes(value)})`
  if (!Array.isArray(value)) return String(value)
  return value.length === 0 ? 'none' : value.join(', ')
}

const originText = ({ from, by }: ShownSetting): string =>
  by === undefined ? origins[from] : `${origins[from]}, ${by}`

const Row = ({ of }: { readonly of: ShownSetting }) => (
  <tr class={of.from === 'default' ? 'quiet' : ''}>
    <th scope="row" data-label="Setting">
      <code>{of.name}</code>
    </th>
    <td data-label="Value">
      <bdi>{valueText(of)}</bdi>
    </td>
    <td data-label="From">{originText(of)}</td>
  </tr>
)

/** Also finds what was typed as a flag or a variable: `--cors-origins`, `COFFER_CORS_ORIGINS`. */
function matches(setting: ShownSetting, typed: string): boolean {
  const words = typed.trim().toLowerCase()
  const name = words.replace(/^(--|coffer_)/, '').replaceAll('-', '_')
  return setting.name.includes(name) || valueText(setting).toLowerCase().includes(words)
}

export function SettingsScreen() {
  const { asked, again } = useAnswer<ShownSettings>({ path: '/status/settings' })
  const typed = useSignal('')
  const isChosenAlone = useSignal(false)
  const isWanted = (setting: ShownSetting): boolean =>
    (!isChosenAlone.value || setting.from !== 'default') && matches(setting, typed.value)
  return (
    <>
      <h1 tabIndex={-1}>Settings</h1>
      <Answer asked={asked.value} what="settings" again={again}>
        {({ settings }) => {
          const rows = settings.filter(isWanted)
          return (
            <>
              <div class="filters">
                <div>
                  <label for="setting-filter">Filter</label>
                  <input
                    id="setting-filter"
                    type="search"
                    value={typed.value}
                    onInput={event => {
                      typed.value = event.currentTarget.value
                    }}
                  />
                </div>
                <div class="choice">
                  <input
                    id="setting-chosen"
                    type="checkbox"
                    checked={isChosenAlone.value}
                    onChange={event => {
                      isChosenAlone.value = event.currentTarget.checked
                    }}
                  />
                  <label for="setting-chosen">Only what somebody set</label>
                </div>
              </div>
              <p class="hint" role="status">
                {rows.length} of {settings.length}. They are read at the start of the server:
                restart it to change them.
              </p>
              {rows.length === 0 ? (
                <Empty title="No such setting">
                  <p>Clear the filter, or show those that nobody set as well.</p>
                </Empty>
              ) : (
                <Table caption="Settings" columns={['Setting', 'Value', 'From']}>
                  {rows.map(setting => (
                    <Row key={setting.name} of={setting} />
                  ))}
                </Table>
              )}
            </>
          )
        }}
      </Answer>
    </>
  )
}
