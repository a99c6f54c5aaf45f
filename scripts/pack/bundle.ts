/**
 * Bundles one entry into one file of a package.
 *
 * The vault's files import the packages that a package manager can install without running
 * anything. Packages that would run a script on installation, or report it, are bundled: except the
 * storage engine's addon, which stays a package of its own, and the files of the interface page,
 * which are copied beside.
 * @module
 */
import { buildDefinition } from '../build-id.ts'
import { embedConsole } from '../embed-console.ts'
import { embedFrame } from '../embed-frame.ts'
import { basename, extname, join, resolve } from 'node:path'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import type { BunPlugin } from 'bun'

export interface Bundle {
  /** Path below the root of the checkout. */
  readonly entry: string
  readonly file: string
  readonly target: 'browser' | 'node' | 'bun'
  readonly format?: 'esm' | 'cjs'
  /** First line of the file. */
  readonly banner?: string
}

/** Packages that are bundled, with all their dependencies. */
export const bundledPackages = ['lmdb', '@elysiajs/openapi'] as const

/** Folder in the package for the files of the interface page. */
const assets = 'swagger'

const assetOf = (name: string): string => `import { fileURLToPath } from 'node:url'
  export default fileURLToPath(new URL('./${assets}/${name}', import.meta.url))`

const addon = `module.exports = () => {
  const name = '@lmdb/lmdb-' + process.platform + '-' + process.arch
  const libc = process.platform === 'linux' ? '.glibc' : ''
  try {
    return require(name + '/node.napi' + libc + '.node')
  } catch {
    const what = 'coffer: cannot load its storage engine: install the package '
    process.stderr.write(what + name + '\\n')
    process.exit(1)
  }
}`

/** Replacements of code that looks for addons. */
const standIns = [
  [/\/node_modules\/node-gyp-build-optional-packages\/index\.js$/, addon],
  [/\/node_modules\/msgpackr-extract\/index\.js$/, 'module.exports = undefined'],
] as const

/** Only one file has the card fields, so that there is one class of their errors. */
const besideElements = (file: string): BunPlugin => ({
  name: 'beside the card fields',
  setup(build) {
    const path = `./elements${extname(file)}`
    build.onResolve({ filter: /^\.\.\/host\/index\.ts$/ }, () => ({ path, external: true }))
  },
})

const within = (folder: string, used: Set<string>): BunPlugin => ({
  name: 'package',
  setup(build) {
    build.onResolve({ filter: /^swagger-ui-dist\// }, ({ path, importer }) => {
      mkdirSync(join(folder, assets), { recursive: true })
      const name = basename(path)
      const file = Bun.resolveSync(path, importer)
      copyFileSync(file, join(folder, assets, name))
      used.add(file)
      return { path: name, namespace: assets }
    })
    build.onLoad({ filter: /./, namespace: assets }, ({ path }) => ({
      contents: assetOf(path),
      loader: 'js',
    }))
    for (const [filter, contents] of standIns) {
      build.onLoad({ filter }, () => ({ contents, loader: 'js' }))
    }
  },
})

export interface Place {
  /** Root of the checkout. */
  readonly root: string
  /** Folder of the package. */
  readonly folder: string
  /** Names of packages that are not bundled. */
  readonly external: readonly string[]
}

const minified = (text: string): string =>
  new Bun.Transpiler({ loader: 'js', minifyWhitespace: true }).transformSync(text)

/** @throws Error if a line's indent, or a comment line, is part of a string literal */
function compactLines(text: string, entry: string): string {
  const lines = text.replaceAll(/^ +|^\/\/ .*\n/gm, '')
  if (minified(lines) !== minified(text)) throw new Error(`${entry}: a text of several lines`)
  return lines
}

/**
 * @returns absolute paths of the files that it was made of
 * @throws Error with the missing file or the fault
 */
export async function writeBundle(
  { root, folder, external }: Place,
  { entry, file, target, format = 'esm', banner = '' }: Bundle,
): Promise<readonly string[]> {
  const used = new Set<string>()
  const ofConsole = new Set<string>()
  const { success, logs, outputs, metafile } = await Bun.build({
    entrypoints: [join(root, entry)],
    target,
    format,
    banner,
    // The vault's names stay, for stack traces; bundles for applications must be small. Its lines
    // stay too: Node.js prints the line of an error that nobody catches.
    minify: target !== 'bun' && { identifiers: true, syntax: true },
    define: buildDefinition(root),
    external: [...external, 'react', 'react/*', '*.cjs'],
    plugins: [
      within(folder, used),
      besideElements(file),
      await embedFrame(),
      await embedConsole(ofConsole),
    ],
    metafile: true,
    throw: false,
  })
  const [output] = outputs
  if (!success || output === undefined) throw new Error(`${entry}: ${logs.map(String).join('\n')}`)
  const text = await output.text()
  writeFileSync(join(folder, file), target === 'bun' ? text : compactLines(text, entry))
  const inputs = [...Object.keys(metafile?.inputs ?? {}), ...ofConsole].map(path => resolve(path))
  return [...used, ...inputs]
}
