/**
 * Texts that every file must and must not have, and that the packages are pinned.
 * @module
 */
import {
  lockPathOf,
  namesIn,
  neededNames,
  packageFolders,
  readLock,
  type Lock,
  type Needs,
} from './lock.ts'
import { type Project, type Rule } from './project.ts'

/** Docblock of a file, which tells what it owns. A script may have its `#!` line first. */
const opening = /^(?:#!.*\n)?\/\*\*(?:(?!\*\/)[\s\S])*@module\b/

const checkOpenings = ({ sources }: Project): string[] =>
  sources
    .filter(({ path, text }) => !path.endsWith('.test.ts') && !opening.test(text))
    .map(({ path }) => `${path}: does not open with a docblock that has @module`)

/** Folders of one machine, and addresses for downloading packages. */
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

/** A sentence whose subject is a clause or missing: it has to be read twice. */
const subjectless =
  /^\s*(?:\*|\/\/|\/\*\*) (?:Of|What|Where|Whether|Who|Whose|Whom|Which|Those|How)\b/

/** The first is printed from the descriptions of the interface; samples break rules. */
const withAnySubject = /^src\/client\/interface\.ts$|^test\/support\/tidy\/[a-z]+-samples\.ts$/

const checkSubjects = ({ sources }: Project): string[] =>
  sources
    .filter(({ path }) => !withAnySubject.test(path))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, index) =>
          subjectless.test(line) ? [`${path}:${index + 1}: a sentence without a subject`] : [],
        ),
    )

const pinned = (needs: Needs): Readonly<Record<string, string>> => ({
  ...needs.dependencies,
  ...needs.devDependencies,
})

const readManifest = ({ files }: Project, folder: string): Needs =>
  JSON.parse(files.get(`${folder}package.json`) ?? '{}') as Needs

/** A package may have another name here, beside another version of itself. */
const oneVersion = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/

const checkPins = (project: Project, folder: string): string[] =>
  Object.entries(pinned(readManifest(project, folder)))
    .filter(([, version]) => !oneVersion.test(version))
    .map(([name]) => `${folder}package.json: ${name} is not pinned to one version`)

/** A package is searched below the one that needs it, then below each enclosing one. */
const isLocked = (packages: Lock['packages'], key: string, name: string): boolean =>
  ['', ...namesIn(key)].some((_, depth, names) =>
    packages.has([...names.slice(1, depth + 1), name].join('/')),
  )

function checkLock(project: Project, folder: string): string[] {
  const { wanted, packages } = readLock(project, folder)
  const found = neededNames(wanted).filter(name => !packages.has(name))
  const keys: string[] = []
  for (const [key, [, address, needs, hash]] of packages) {
    if (address !== '') keys.push(`${key} records a download address`)
    if (!/^sha512-[\w+/]{86}==$/.test(hash)) keys.push(`${key} has no hash`)
    found.push(...neededNames(needs).filter(name => !isLocked(packages, key, name)))
  }
  return [...keys, ...found.map(name => `${name} is not locked`)].map(
    finding => `${lockPathOf(folder)}: ${finding}`,
  )
}

function checkAgreement(project: Project, folder: string): string[] {
  const locked = pinned(readLock(project, folder).wanted)
  const wanted = pinned(readManifest(project, folder))
  return [...new Set([...Object.keys(locked), ...Object.keys(wanted)])]
    .filter(name => locked[name] !== wanted[name])
    .map(name => `${lockPathOf(folder)}: differs from package.json in ${name}`)
}

const inEach =
  (check: (project: Project, folder: string) => readonly string[]): Rule['check'] =>
  project =>
    packageFolders.flatMap(folder => check(project, folder))

const checkOneLock = ({ files }: Project): string[] =>
  ['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lockb']
    .filter(path => files.has(path))
    .map(path => `${path}: a second lock file`)

export const textRules: readonly Rule[] = [
  { name: 'every file says what it is', check: checkOpenings },
  { name: 'no text speaks of one machine', check: checkLocal },
  { name: 'a sentence of a comment has a subject', check: checkSubjects },
  { name: 'packages are pinned', check: inEach(checkPins) },
  { name: 'the lock file is whole and has no address', check: inEach(checkLock) },
  { name: 'the lock file agrees with package.json', check: inEach(checkAgreement) },
  { name: 'there is one lock file', check: checkOneLock },
]
