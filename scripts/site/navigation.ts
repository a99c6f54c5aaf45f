/**
 * Pages of the site: their order, and the file of each.
 * @module
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

export interface Entry {
  readonly title: string
  /** From the root of the project. */
  readonly file: string
}

interface Section {
  readonly title: string
  readonly entries: readonly Entry[]
}

const docs = (title: string, name: string): Entry => ({ title, file: `docs/${name}.md` })

const sections: readonly Section[] = [
  {
    title: 'Getting started',
    entries: [
      { title: 'What it is', file: 'README.md' },
      docs('I want to …', 'README'),
      docs('On a machine', 'start-on-a-machine'),
      docs('As a sidecar', 'start-as-a-sidecar'),
      docs('In a test', 'start-in-a-test'),
    ],
  },
  {
    title: 'Understanding it',
    entries: [
      docs('Concepts', 'concepts'),
      docs('Expressions', 'expressions'),
      docs('Searching', 'search'),
    ],
  },
  {
    title: 'Using it',
    entries: [
      docs('HTTP', 'http'),
      docs('Interface', 'interface'),
      docs('Console', 'console'),
      docs('Client', 'client'),
      docs('Reference of the client', 'client-reference'),
      docs('Moving data', 'move-data'),
      docs('Testing', 'testing'),
      docs('Elements', 'elements'),
      docs('Embedding', 'embedding'),
      docs('Compatibility', 'compatibility'),
    ],
  },
  {
    title: 'Running it',
    entries: [
      docs('Operations', 'operations'),
      docs('Runbooks', 'runbooks'),
      docs('Command line', 'cli'),
      docs('The audit log', 'audit'),
      { title: 'Security', file: 'SECURITY.md' },
      docs('Threats', 'threats'),
      docs('Performance', 'performance'),
      docs('Many machines', 'many-machines'),
      docs('Reliability', 'reliability'),
      docs('Stability', 'stability'),
      docs('Hostile inputs', 'hostile-inputs'),
    ],
  },
  {
    title: 'Behind it',
    entries: [
      docs('Decisions', 'decisions'),
      docs('Architecture', 'architecture'),
      { title: 'Contributing', file: 'CONTRIBUTING.md' },
      docs('Releasing', 'releasing'),
      { title: 'Changes', file: 'CHANGELOG.md' },
    ],
  },
  {
    title: 'Evidence',
    entries: [
      docs('Specification', 'evidence/specification'),
      docs('Tests of the interface', 'evidence/interface'),
      docs('Tests of hostile inputs', 'evidence/hostile-inputs'),
      docs('Tests of security', 'evidence/security'),
      docs('Tests of compatibility', 'evidence/compatibility'),
      docs('Facts by number', 'evidence/facts'),
      docs('Measurements', 'evidence/measurements'),
      docs('Campaigns', 'evidence/campaigns'),
    ],
  },
]

const root = resolve(import.meta.dirname, '../..')

/** Without pages that are not written yet. */
export const navigation: readonly Section[] = sections.map(({ title, entries }) => ({
  title,
  entries: entries.filter(({ file }) => existsSync(join(root, file))),
}))

export const entries: readonly Entry[] = navigation.flatMap(section => section.entries)

/** Returns the site's path of a project file: `operations.md` for `docs/operations.md`. */
export function pageOf(file: string): string | undefined {
  if (file === 'README.md') return 'index.md'
  if (!entries.some(entry => entry.file === file)) return undefined
  return file.replace(/^docs\//, '').toLowerCase()
}

/** Makes anchors as GitHub does, to which the pages link. */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
