/**
 * Bundler plugin: puts the native addons of one platform inside the compiled binary.
 *
 * The packages look for their addon on disk at run time, where a binary in an empty folder has
 * none. The plugin answers each look-up with a literal `require` of the `.node` file, which the
 * bundler embeds. msgpackr's addon is left out: it is optional, and the store packs no values.
 * Source: hardening L28; docs/decisions.md, "Keys".
 * @module
 */
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { BunPlugin } from 'bun'

/** What a binary runs on: as `process.platform` and `process.arch` name it. */
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
 * The runtime unpacks an addon before it loads it, and says only that it found no file where that
 * fails (hardening L29, T35).
 */
const loadOrStop = (path: string): string => `
  try {
    return ${requireOf(path)}
  } catch {
    process.stderr.write('coffer: cannot unpack its storage engine: ' +
      'name a folder in BUN_TMPDIR that can be written to and executed from\\n')
    process.exit(1)
  }`

interface StandIn {
  readonly addon?: keyof ReturnType<typeof addonsOf>
  /** @param path of the addon, from the file that is replaced */
  readonly codeOf: (path: string) => string
}

/** By the file in a package for which the code stands in. */
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

/** Names of the files that a bundle of the program must have replaced. */
export const replacedFiles = [...standIns.keys()]

/** Names of the files that the plugin needs below `modules` and that are not there. */
export const missingFiles = (target: Target, modules: string): string[] =>
  [...Object.values(addonsOf(target)), ...replacedFiles].filter(
    path => !existsSync(join(modules, path)),
  )

/** From one file to another, so that no bundle knows where its checkout is. */
function relativePath(from: string, to: string): string {
  const path = relative(dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}

/**
 * @param modules  absolute path of a `node_modules` that has the addons of the target
 * @param used     is given each file that the bundle took and that was replaced
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
