/**
 * What packages may do on the machine that installs them: nothing runs, and none reports home.
 *
 * npm leaves out what the lock file does not name, also where a package asks for it: so a package
 * that only reports installs is taken out of there, with the line that asks for it.
 * @module
 */
import { type Project, type Rule } from './project.ts'

/** Packages that send where they are installed or used, by name. */
const telemetry = new RegExp(
  [
    '@scarf/scarf|posthog-(js|node)|mixpanel|universal-analytics|analytics-node|insight',
    '@segment/analytics-node|applicationinsights|dd-trace|newrelic|ackee-tracker',
    '@(sentry|amplitude)/.*|@vercel/analytics|@opentelemetry/exporter-.*',
  ]
    .map(names => `^(${names})$`)
    .join('|'),
)

interface Lock {
  readonly packages?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

function namesOf(value: unknown): string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value) : []
}

function findTelemetry({ files }: Project): string[] {
  const { packages = {} } = JSON.parse(files.get('package-lock.json') ?? '{}') as Lock
  const names = Object.entries(packages).flatMap(([path, entry]) => [
    path.split('node_modules/').at(-1) ?? '',
    ...['dependencies', 'devDependencies', 'optionalDependencies'].flatMap(list =>
      namesOf(entry[list]),
    ),
  ])
  return [...new Set(names)]
    .filter(name => telemetry.test(name))
    .map(name => `package-lock.json: ${name} reports where it is installed`)
}

function findScripts({ files }: Project): string[] {
  const found: string[] = []
  const lines = (files.get('.npmrc') ?? '').split('\n')
  if (!lines.includes('ignore-scripts=true')) found.push('.npmrc: npm runs install scripts')
  const { trustedDependencies } = JSON.parse(files.get('package.json') ?? '{}') as {
    readonly trustedDependencies?: unknown
  }
  // Without the list Bun trusts one of its own.
  if (!Array.isArray(trustedDependencies) || trustedDependencies.length > 0) {
    found.push('package.json: Bun runs install scripts')
  }
  return found
}

export const packageRules: readonly Rule[] = [
  { name: 'no package reports where it is installed', check: findTelemetry },
  { name: 'no install script runs', check: findScripts },
]
