/**
 * Bundler plugin: puts the native addons of this platform inside the compiled binary.
 *
 * The packages look for their addon on disk at run time, where a binary in an empty folder has
 * none. The plugin answers each look-up with a literal `require` of the `.node` file, which the
 * bundler embeds. msgpackr's addon is left out: it is optional, and the store packs no values.
 * Source: hardening L28; docs/decisions.md, "Keys".
 * @module
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { BunPlugin } from 'bun'

const host = `${process.platform}-${process.arch}`
const libc = process.platform === 'linux' ? '.glibc' : ''
const addons = {
  lmdb: `@lmdb/lmdb-${host}/node.napi${libc}.node`,
  sodium: `sodium-native/prebuilds/${host}/sodium-native.node`,
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

/** File in a package to the code that stands in for it. */
const standIns = (modules: string): ReadonlyMap<string, string> =>
  new Map([
    [
      'node-gyp-build-optional-packages/index.js',
      `module.exports = () => {${loadOrStop(join(modules, addons.lmdb))}}`,
    ],
    ['sodium-native/binding.js', `module.exports = ${requireOf(join(modules, addons.sodium))}`],
    ['msgpackr-extract/index.js', 'module.exports = undefined'],
  ])

/** Names of the files below `modules` that a bundle of the program must have replaced. */
export const replacedFiles = (modules: string): string[] => [...standIns(modules).keys()]

/** Names of the files that the plugin needs below `modules` and that are not there. */
export const missingFiles = (modules: string): string[] =>
  [...Object.values(addons), ...replacedFiles(modules)].filter(
    path => !existsSync(join(modules, path)),
  )

/**
 * @param modules  absolute path of `node_modules`
 * @param used     is given each file that the bundle took and that was replaced
 */
export const embedNatives = (modules: string, used: Set<string>): BunPlugin => ({
  name: 'embed-natives',
  setup(build) {
    for (const [path, contents] of standIns(modules)) {
      const filter = new RegExp(`/node_modules/${RegExp.escape(path)}$`)
      build.onLoad({ filter }, () => {
        used.add(path)
        return { contents, loader: 'js' }
      })
    }
  },
})
