/**
 * One entry as one file of a package.
 *
 * The vault's own files name the packages that they need and that a package manager brings without
 * running anything. What would run a script when it is installed, or report that it was, is inside:
 * of the storage engine the addon stays in a package of its own, of the page of the interface its
 * files lie beside.
 * @module
 */
import { buildDefinition } from '../build-id.ts'
import { embedFrame } from '../embed-frame.ts'
import { basename, extname, join, resolve } from 'node:path'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import type { BunPlugin } from 'bun'

export interface Bundle {
  /** Below the root of the checkout. */
  readonly entry: string
  readonly file: string
  readonly target: 'browser' | 'node' | 'bun'
  readonly format?: 'esm' | 'cjs'
  /** Its first line. */
  readonly banner?: string
}

/** Packages that are inside, with all that they need. */
export const bundledPackages = ['lmdb', '@elysiajs/openapi'] as const

/** Where the files of the page of the interface lie in the package. */
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

/** What stands in the place of code that looks for addons. */
const standIns = [
  [/\/node_modules\/node-gyp-build-optional-packages\/index\.js$/, addon],
  [/\/node_modules\/msgpackr-extract\/index\.js$/, 'module.exports = undefined'],
] as const

/** One file has the card fields, so that there is one class of their errors. */
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
  /** Of the checkout. */
  readonly root: string
  /** Of the package. */
  readonly folder: string
  /** Names of packages that are not inside. */
  readonly external: readonly string[]
}

const minified = (text: string): string =>
  new Bun.Transpiler({ loader: 'js', minifyWhitespace: true }).transformSync(text)

/** @throws Error where what begins a line, or stands on one of comment, is of a text */
function compactLines(text: string, entry: string): string {
  const lines = text.replaceAll(/^ +|^\/\/ .*\n/gm, '')
  if (minified(lines) !== minified(text)) throw new Error(`${entry}: a text of several lines`)
  return lines
}

/**
 * @returns absolute paths of the files that it was made of
 * @throws Error that says what is missing or wrong
 */
export async function writeBundle(
  { root, folder, external }: Place,
  { entry, file, target, format = 'esm', banner = '' }: Bundle,
): Promise<readonly string[]> {
  const used = new Set<string>()
  const { success, logs, outputs, metafile } = await Bun.build({
    entrypoints: [join(root, entry)],
    target,
    format,
    banner,
    // The names of the vault stay, for stack traces; what applications take in is small. Its lines
    // stay lines: Node.js shows that of an error which nobody catches.
    minify: target !== 'bun' && { identifiers: true, syntax: true },
    define: buildDefinition(root),
    external: [...external, 'react', 'react/*', '*.cjs'],
    plugins: [within(folder, used), besideElements(file), await embedFrame()],
    metafile: true,
    throw: false,
  })
  const [output] = outputs
  if (!success || output === undefined) throw new Error(`${entry}: ${logs.map(String).join('\n')}`)
  const text = await output.text()
  writeFileSync(join(folder, file), target === 'bun' ? text : compactLines(text, entry))
  const inputs = Object.keys(metafile?.inputs ?? {}).map(path => resolve(path))
  return [...used, ...inputs]
}
