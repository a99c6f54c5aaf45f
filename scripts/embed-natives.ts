/**
 * Bundler plugin: embeds the native addons of one platform in the compiled binary.
 *
 * The packages look for their addon on disk at run time, where a binary in an empty folder has
 * none. The plugin replaces each look-up with a literal `require` of the `.node` file, which the
 * bundler embeds. msgpackr's addon is left out: it is optional, and the store packs no values.
 * Source: hardening L28; docs/decisions.md, "Keys".
 * @module
 */
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { BunPlugin } from 'bun'

/** Platform of a binary: as `process.platform` and `process.arch` name it. */
export interface Target {
  readonly platform: string
  readonly arch: string
}

const addonsOf = ({
  platform,
  arch,
}: Target): { readonly lmdb: string; readonly sodium: string } => {
  const libc = platform === 'linux' ? '.glibc' : ''
  return {
    lmdb: `@lmdb/lmdb-${platform}-${arch}/node.napi${libc}.node`,
    sodium: `sodium-native/prebuilds/${platform}-${arch}/sodium-native.node`,
  }
}

const requireOf = (path: string): string => `require(${JSON.stringify(path)})`

/**
 * The runtime unpacks an addon before it loads it; if that fails, its error only says that a file
 * is missing (hardening L29, T35).
 */
const loadOrStop = (path: string): string => `
  try {
    return ${requireOf(path)}
  } catch {
    process.stderr.write('coffer: cannot unpack its storage engine: ' +
      'name a folder in BUN_TMPDIR that takes files of 4 MiB and may be executed from\\n')
    process.exit(1)
  }`

interface StandIn {
  readonly addon?: keyof ReturnType<typeof addonsOf>
  /** @param path of the addon, relative to the replaced file */
  readonly codeOf: (path: string) => string
}

/** By the package's file that the code replaces. */
const standIns: ReadonlyMap<string, StandIn> = new Map<string, StandIn>([
  [
    'node-gyp-build-optional-packages/index.js',
    { addon: 'lmdb', codeOf: path => `module.exports = () => {${loadOrStop(path)}}` },
  ],
  [
    'sodium-native/binding.js',
    { addon: 'sodium', codeOf: path => `module.exports = ${requireOf(path)}` },
  ],
  ['msgpackr-extract/index.js', { codeOf: () => 'module.exports = undefined' }],
])

/** Names of the files that must be replaced in every bundle of the program. */
export const replacedFiles = [...standIns.keys()]

/** Names of required files that are missing below `modules`. */
export const missingFiles = (target: Target, modules: string): string[] =>
  [...Object.values(addonsOf(target)), ...replacedFiles].filter(
    path => !existsSync(join(modules, path)),
  )

/** Relative, so that no bundle contains the path of its checkout. */
function relativePath(from: string, to: string): string {
  const path = relative(dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}

/**
 * @param modules  absolute path of a `node_modules` that has the addons of the target
 * @param used     receives each file that the bundle took, and each replaced one
 */
export const embedNatives = (target: Target, modules: string, used: Set<string>): BunPlugin => ({
  name: 'embed-natives',
  setup(build) {
    const addons = addonsOf(target)
    for (const [name, { addon, codeOf }] of standIns) {
      const filter = new RegExp(`/node_modules/${RegExp.escape(name)}$`)
      build.onLoad({ filter }, ({ path }) => {
        used.add(name)
        const file = addon === undefined ? '' : relativePath(path, join(modules, addons[addon]))
        return { contents: codeOf(file), loader: 'js' }
      })
    }
  },
})
