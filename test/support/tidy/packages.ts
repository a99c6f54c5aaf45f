/**
 * Packages on the installing machine: none may run anything or report home.
 *
 * Bun installs exactly what the lock file names: so a package that only reports installs is removed
 * from there, with the line that requests it.
 * @module
 */
import { lockPathOf, namesIn, neededNames, packageFolders, readLock } from './lock.ts'
import { type Project, type Rule } from './project.ts'

/** Packages that report their installation or use, by name. */
const telemetry = new RegExp(
  [
    '@scarf/scarf|posthog-(js|node)|mixpanel|universal-analytics|analytics-node|insight',
    '@segment/analytics-node|applicationinsights|dd-trace|newrelic|ackee-tracker',
    '@(sentry|amplitude)/.*|@vercel/analytics|@opentelemetry/exporter-.*',
  ]
    .map(names => `^(${names})$`)
    .join('|'),
)

function findTelemetryIn(project: Project, folder: string): string[] {
  const names = [...readLock(project, folder).packages].flatMap(([key, [, , needs]]) => [
    ...namesIn(key).slice(-1),
    ...neededNames(needs),
  ])
  return [...new Set(names)]
    .filter(name => telemetry.test(name))
    .map(name => `${lockPathOf(folder)}: ${name} reports where it is installed`)
}

const findTelemetry = (project: Project): string[] =>
  packageFolders.flatMap(folder => findTelemetryIn(project, folder))

function findScripts({ files }: Project): string[] {
  const found: string[] = []
  const lines = (files.get('.npmrc') ?? '').split('\n')
  if (!lines.includes('ignore-scripts=true')) found.push('.npmrc: npm runs install scripts')
  const { trustedDependencies } = JSON.parse(files.get('package.json') ?? '{}') as {
    readonly trustedDependencies?: unknown
  }
  // Without the list, Bun trusts a list of its own.
  if (!Array.isArray(trustedDependencies) || trustedDependencies.length > 0) {
    found.push('package.json: Bun runs install scripts')
  }
  return found
}

export const packageRules: readonly Rule[] = [
  { name: 'no package reports where it is installed', check: findTelemetry },
  { name: 'no install script runs', check: findScripts },
]
