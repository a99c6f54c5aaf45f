/**
 * Small projects that each break one rule about packages, and neighbours that do not.
 * @module
 */
import type { Sample } from './structure-samples.ts'

const telemetry = 'no package reports where it is installed'
const scripts = 'no install script runs'

const lockOf = (...packages: readonly object[]) => ({
  'bun.lock': JSON.stringify({ packages: Object.assign({}, ...packages) as unknown }),
})

const locked = (key: string, needs: unknown = {}) => ({ [key]: [`${key}@1.0.0`, '', needs, ''] })

export const packageSamples: readonly Sample[] = [
  {
    rule: telemetry,
    says: 'lets others pass, also such as have a part of a name',
    files: lockOf(locked('scarf'), locked('a', { dependencies: { insights: '1' } })),
    finds: [],
  },
  {
    rule: telemetry,
    says: 'refuses one that is locked at any depth, and one that is asked for',
    files: lockOf(
      locked('a/@scarf/scarf'),
      locked('b', { optionalDependencies: { 'posthog-node': '1.0.0' } }),
    ),
    finds: ['@scarf/scarf', 'posthog-node'].map(
      name => `bun.lock: ${name} reports where it is installed`,
    ),
  },
  {
    rule: scripts,
    says: 'lets a project pass that turns them off for npm and for Bun',
    files: { '.npmrc': 'a=b\nignore-scripts=true\n', 'package.json': '{"trustedDependencies":[]}' },
    finds: [],
  },
  {
    rule: scripts,
    says: 'refuses what is not turned off, and a package that is trusted',
    files: { '.npmrc': '#ignore-scripts=true\n', 'package.json': '{"trustedDependencies":["a"]}' },
    finds: ['.npmrc: npm runs install scripts', 'package.json: Bun runs install scripts'],
  },
  {
    rule: scripts,
    says: 'refuses a project that says nothing',
    files: {},
    finds: ['.npmrc: npm runs install scripts', 'package.json: Bun runs install scripts'],
  },
]
