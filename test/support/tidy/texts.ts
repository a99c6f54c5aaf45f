/**
 * What every file must and must not say, and that the packages are pinned.
 * @module
 */
import { type Project, type Rule } from './project.ts'

/** What a file opens with: what it owns. A script may have its `#!` line first. */
const opening = /^(?:#!.*\n)?\/\*\*(?:(?!\*\/)[\s\S])*@module\b/

const checkOpenings = ({ sources }: Project): string[] =>
  sources
    .filter(({ path, text }) => !path.endsWith('.test.ts') && !opening.test(text))
    .map(({ path }) => `${path}: does not open with a docblock that has @module`)

/** Folders of one machine, and addresses that packages are downloaded from. */
const local =
  /(?<![\w.}])\/(?:work|root|home\/\w+|Users\/\w+)\/|\bregistry\.[a-z]+[a-z.-]*\.[a-z]{2,}/

const checkLocal = ({ files }: Project): string[] =>
  [...files].flatMap(([path, text]) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        local.test(line) ? [`${path}:${index + 1}: an address of one machine or registry`] : [],
      ),
  )

interface Package {
  readonly version?: string
  readonly resolved?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const readJson = <T>(project: Project, path: string): T =>
  JSON.parse(project.files.get(path) ?? '{}') as T

const pinned = (of: Package): Record<string, string> => ({
  ...of.dependencies,
  ...of.devDependencies,
})

const checkPins = (project: Project): string[] =>
  Object.entries(pinned(readJson<Package>(project, 'package.json')))
    .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
    .map(([name]) => `package.json: ${name} is not pinned to one version`)

/** A package is looked for below the one that needs it, then below each folder around that. */
const isLocked = (lock: ReadonlyMap<string, Package>, from: string, name: string): boolean =>
  from
    .split('/node_modules/')
    .some((_, depth, parts) =>
      lock.has([...parts.slice(0, depth + 1), name].join('/node_modules/')),
    ) || lock.has(`node_modules/${name}`)

function checkLock(project: Project): string[] {
  const text = readJson<{ packages?: Record<string, Package> }>(project, 'package-lock.json')
  const lock = new Map(Object.entries(text.packages ?? {}))
  const found: string[] = []
  for (const [path, entry] of lock) {
    if ('resolved' in entry) found.push(`package-lock.json: ${path} records a download address`)
    for (const name of Object.keys({ ...pinned(entry), ...entry.optionalDependencies })) {
      if (!isLocked(lock, path, name)) found.push(`package-lock.json: ${name} is not locked`)
    }
  }
  return found
}

function checkAgreement(project: Project): string[] {
  const text = readJson<{ packages?: Record<string, Package> }>(project, 'package-lock.json')
  const locked = pinned(text.packages?.[''] ?? {})
  const wanted = pinned(readJson<Package>(project, 'package.json'))
  return [...new Set([...Object.keys(locked), ...Object.keys(wanted)])]
    .filter(name => locked[name] !== wanted[name])
    .map(name => `package-lock.json: differs from package.json in ${name}`)
}

export const textRules: readonly Rule[] = [
  { name: 'every file says what it is', check: checkOpenings },
  { name: 'no text speaks of one machine', check: checkLocal },
  { name: 'packages are pinned', check: checkPins },
  { name: 'the lock file is whole and has no address', check: checkLock },
  { name: 'the lock file agrees with package.json', check: checkAgreement },
]
