/**
 * `bun.lock` as the tidy rules see it.
 *
 * Source: Bun's text lock file, version 2: `"key": ["name@version", address, info, hash]`, where a
 * key is the names of the enclosing packages and its own, and an empty address is the registry of
 * the machine that installs.
 * @module
 */
import type { Project } from './project.ts'

/** Folders of a package.json with a lock file: the project, and the tools of its site. */
export const packageFolders = ['', 'scripts/site/'] as const

export const lockPathOf = (folder: string): string => `${folder}bun.lock`

type Versions = Readonly<Record<string, string>>

/** Dependencies of a package, in the form that package.json and the lock file share. */
export interface Needs {
  readonly dependencies?: Versions
  readonly devDependencies?: Versions
  readonly optionalDependencies?: Versions
}

/** `id` is name and version, `hash` that of the downloaded package. */
type LockedPackage = readonly [id: string, address: string, needs: Needs, hash: string]

export interface Lock {
  /** Requests of package.json when this was written. */
  readonly wanted: Needs
  readonly packages: ReadonlyMap<string, LockedPackage>
}

interface LockFile {
  readonly workspaces?: Readonly<Record<string, Needs>>
  readonly packages?: Readonly<Record<string, LockedPackage>>
}

export function readLock({ files }: Project, folder: string): Lock {
  const text = files.get(lockPathOf(folder)) ?? '{}'
  const { workspaces, packages } = Bun.JSONC.parse(text) as LockFile
  return { wanted: workspaces?.[''] ?? {}, packages: new Map(Object.entries(packages ?? {})) }
}

/** Names in a key: `a/@b/c` is `@b/c` below `a`. */
export const namesIn = (key: string): readonly string[] => key.match(/@[^/]+\/[^/]+|[^/]+/g) ?? []

export const neededNames = (needs: Needs): readonly string[] =>
  [needs.dependencies, needs.devDependencies, needs.optionalDependencies].flatMap(names =>
    Object.keys(names ?? {}),
  )
