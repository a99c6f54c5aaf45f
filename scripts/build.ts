/**
 * Builds `dist/coffer`: one file with Bun, the program, both native addons and the page's assets.
 *
 * Bytecode halves the start-up time; names stay readable and the source map goes inside, so that
 * a stack trace names our files. The binary loads no `.env`, bunfig.toml, tsconfig.json or
 * package.json from the folder it is started in. The build ends with a smoke run.
 * @module
 */
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { embedNatives, missingFiles, replacedFiles } from './embed-natives.ts'
import { smokeRun } from './smoke.ts'

const root = resolve(import.meta.dir, '..')
const modules = join(root, 'node_modules')
const binary = join(root, 'dist', 'coffer')

function stopBuild(reason: string): never {
  console.error(`build: ${reason}`)
  process.exit(1)
}

async function buildBinary(): Promise<void> {
  const used = new Set<string>()
  const { success, logs } = await Bun.build({
    entrypoints: [join(root, 'src', 'main.ts')],
    target: 'bun',
    bytecode: true,
    format: 'esm',
    sourcemap: 'inline',
    plugins: [embedNatives(modules, used)],
    compile: {
      outfile: binary,
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
    throw: false,
  })
  if (!success) stopBuild(logs.map(String).join('\n'))
  const unused = replacedFiles(modules).filter(path => !used.has(path))
  if (unused.length > 0) stopBuild(`the bundle did not take ${unused.join(', ')}`)
}

const missing = missingFiles(modules)
if (missing.length > 0) stopBuild(`missing in node_modules: ${missing.join(', ')}`)
// The bundler works on relative paths: the names in stack traces start at the root.
process.chdir(root)
await buildBinary()
// The map is inside the binary; the bundler leaves a second copy beside it.
rmSync(`${binary}.map`, { force: true })
console.log(
  `build: ${binary.slice(root.length + 1)}, ${Math.round(Bun.file(binary).size / 1e6)} MB`,
)
process.exit((await smokeRun(binary, root)) ? 0 : 1)
