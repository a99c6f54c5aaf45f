/**
 * Answers about a vault of which no process reports: a host program serves it, and has its own way
 * to watch it.
 * @module
 */
import type { Deps, Reports } from '../deps.ts'
import type { Settings } from '../settings/settings.ts'
import { defaultSettings } from '../settings/settings.ts'
import type { HistoryAnswer, StatusAnswer, StatusSetting } from './schema.ts'

/** Version of the program. Source: lib/version.ts, which features do not know. */
export interface Built {
  readonly version: string
  readonly build: string
}

const snakeOf = (name: string): string =>
  name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

const isDefault = (name: string, value: unknown): boolean =>
  JSON.stringify(defaultSettings[name as keyof Settings]) === JSON.stringify(value)

const shownOf = ([name, value]: readonly [string, StatusSetting['value']]): StatusSetting => ({
  name: snakeOf(name),
  ...(value === undefined ? {} : { value }),
  from: isDefault(name, value) ? 'default' : 'program',
})

export function hostReports(
  { settings, isStoreFar, elapsedMs }: Pick<Deps, 'settings' | 'isStoreFar' | 'elapsedMs'>,
  built: Built,
): Reports {
  return {
    status: async (): Promise<StatusAnswer> => ({
      ...built,
      store: isStoreFar === true ? 'database' : 'folder',
      serving_seconds: Math.floor(elapsedMs() / 1_000),
      is_ready: true,
      failing: [],
      findings: [],
    }),
    history: async (): Promise<HistoryAnswer> => ({ samples: [] }),
    settings: async () => ({
      settings: Object.entries(settings as Readonly<Record<string, StatusSetting['value']>>).map(
        shownOf,
      ),
    }),
  }
}
