/**
 * The open console: its head with the places, and the screen of the place.
 * @module
 */
import type { FunctionComponent } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { ApplicationScreen } from './application-screen.tsx'
import { ApplicationsScreen } from './applications-screen.tsx'
import { ExpressionsScreen } from './expressions-screen.tsx'
import { LogScreen } from './log-screen.tsx'
import { OverviewScreen } from './overview-screen.tsx'
import { go, place, type Place } from './place.ts'
import { closedLinks, openLinks, type Link } from './screens.ts'
import { lock, owner } from './sitting.ts'
import { SessionsScreen } from './sessions-screen.tsx'
import { SettingsScreen } from './settings-screen.tsx'
import { TokenScreen } from './token-screen.tsx'
import { TokensScreen } from './tokens-screen.tsx'
import { Text } from './value.tsx'
import { WebhooksScreen } from './webhooks-screen.tsx'

const screens: Readonly<Record<Place, FunctionComponent>> = {
  overview: OverviewScreen,
  tokens: TokensScreen,
  token: TokenScreen,
  log: LogScreen,
  applications: ApplicationsScreen,
  application: ApplicationScreen,
  sessions: SessionsScreen,
  webhooks: WebhooksScreen,
  settings: SettingsScreen,
  expressions: ExpressionsScreen,
}

const Links = ({ of, label }: { readonly of: readonly Link[]; readonly label: string }) => (
  <nav aria-label={label}>
    <ul>
      {of.map(({ to, name, within }) => (
        <li key={to}>
          <a
            href={`#/${to}`}
            aria-current={[to, ...within].includes(place.value) ? 'page' : undefined}
            onClick={event => {
              event.preventDefault()
              go(to)
            }}
          >
            {name}
          </a>
        </li>
      ))}
    </ul>
  </nav>
)

/** Each says which permission it asks for. */
const Closed = ({ of }: { readonly of: readonly Link[] }) =>
  of.length === 0 ? null : (
    <footer>
      <span>Not with this key:</span>
      <Links of={of} label="Screens that this key does not open" />
    </footer>
  )

/** Moves the focus to the title of each next screen, as a page of its own would. */
function useTitleFocus() {
  const main = useRef<HTMLElement>(null)
  useEffect(() => {
    main.current?.querySelector('h1')?.focus()
  }, [place.value])
  return main
}

export function Frame() {
  const main = useTitleFocus()
  const Screen = screens[place.value]
  return (
    <>
      <header>
        <span class="name">Coffer</span>
        <Links of={openLinks()} label="Screens" />
        <span class="who">
          <Text of={owner.value?.name ?? ''} />
        </span>
        <button type="button" id="lock" onClick={() => lock({ text: 'Locked.', isFault: false })}>
          Lock
        </button>
      </header>
      <main ref={main}>
        <Screen key={place.value} />
      </main>
      <Closed of={closedLinks()} />
    </>
  )
}
