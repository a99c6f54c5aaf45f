/**
 * Compiles one file for one kind of machine, with Bun, the program, both native addons and the
 * page's assets.
 *
 * Bytecode halves the start-up time; names stay readable and the source map is embedded, so that
 * stack traces name our files. The binary loads no `.env`, bunfig.toml, tsconfig.json or
 * package.json from its working folder.
 * @module
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildDefinition } from './build-id.ts'
import { embedConsole } from './embed-console.ts'
import { embedFrame } from './embed-frame.ts'
import { embedNatives, missingFiles, replacedFiles, type Target } from './embed-natives.ts'

export interface Making {
  /** Root of the checkout: an absolute path. */
  readonly root: string
  /** A folder like `node_modules` with the packages of the target; an absolute path. */
  readonly modules: string
  readonly target: Target
  /** The Bun to embed, if not the one that runs this. */
  readonly runtime?: string
  readonly outfile: string
}

/**
 * The bytes depend on the sources and on the base name of `outfile` alone: neither on the time nor
 * on the place of the checkout.
 * @returns paths of the files that it was made of, from the root of the checkout
 * @throws Error with the missing file or the fault
 */
export async function makeBinary(making: Making): Promise<readonly string[]> {
  const { root, modules, target, runtime, outfile } = making
  const missing = missingFiles(target, modules)
  if (missing.length > 0) throw new Error(`missing in node_modules: ${missing.join(', ')}`)
  // The bundler works on relative paths: the names in stack traces start at the root.
  process.chdir(root)
  const used = new Set<string>()
  const ofConsole = new Set<string>()
  const { success, logs, metafile } = await Bun.build({
    entrypoints: [join(root, 'src', 'main.ts')],
    target: 'bun',
    bytecode: true,
    format: 'esm',
    sourcemap: 'inline',
    define: buildDefinition(root),
    metafile: true,
    plugins: [
      embedNatives(target, modules, used),
      await embedFrame(),
      await embedConsole(ofConsole),
    ],
    compile: {
      outfile,
      ...(runtime === undefined
        ? {}
        : {
            executablePath: runtime,
            target: `bun-${target.platform}-${target.arch}` as Bun.Build.CompileTarget,
          }),
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
    throw: false,
  })
  if (!success) throw new Error(logs.map(String).join('\n'))
  const unused = replacedFiles.filter(path => !used.has(path))
  if (unused.length > 0) throw new Error(`the bundle did not take ${unused.join(', ')}`)
  // The map is inside the binary; the bundler leaves a second copy beside it.
  rmSync(`${outfile}.map`, { force: true })
  return [...Object.keys(metafile?.inputs ?? {}), ...ofConsole]
}
