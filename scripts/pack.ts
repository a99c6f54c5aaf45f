/**
 * `bun run pack`: the npm package in `dist/npm`, as `npm publish` takes it, and its archive beside.
 *
 * The client is one file that needs nothing, and so are the card fields. The vault itself is
 * bundled without the packages that it needs, which are then dependencies; it runs on Bun, which
 * the command finds by itself.
 * @module
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { manifestOf } from './pack/manifest.ts'
import { writeTypes } from './pack/types.ts'

const root = resolve(import.meta.dir, '..')
const folder = join(root, 'dist', 'npm')

interface Bundle {
  readonly entry: string
  readonly file: string
  readonly target: 'browser' | 'node' | 'bun'
  /** Its first line. */
  readonly banner?: string
}

const bundles: readonly Bundle[] = [
  { entry: 'client/index.ts', file: 'client.js', target: 'browser' },
  { entry: 'client/socket.ts', file: 'socket.js', target: 'node' },
  { entry: 'elements/host/index.ts', file: 'elements.js', target: 'browser' },
  { entry: 'elements/element/index.ts', file: 'element.js', target: 'browser' },
  { entry: 'elements/react/index.ts', file: 'react.js', target: 'browser', banner: "'use client'" },
  { entry: 'index.ts', file: 'index.js', target: 'bun' },
  { entry: 'testing/index.ts', file: 'testing.js', target: 'bun' },
  { entry: 'main.ts', file: 'main.js', target: 'bun' },
]

/** One file has the card fields, so that there is one class of their errors. */
const besideElements: Bun.BunPlugin = {
  name: 'beside elements.js',
  setup: build =>
    void build.onResolve({ filter: /^\.\.\/host\/index\.ts$/ }, () => ({
      path: './elements.js',
      external: true,
    })),
}

async function bundle({ entry, file, target, banner = '' }: Bundle): Promise<void> {
  const { outputs } = await Bun.build({
    entrypoints: [join(root, 'src', entry)],
    target,
    packages: 'external',
    banner,
    plugins: [besideElements],
  })
  const [output] = outputs
  if (output === undefined) throw new Error(`nothing became of ${entry}`)
  writeFileSync(join(folder, file), await output.text())
}

async function run(command: readonly string[], cwd: string): Promise<void> {
  const child = Bun.spawn([...command], {
    cwd,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'inherit',
  })
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed`)
}

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
for (const each of bundles) await bundle(each)
writeTypes(root, folder)
cpSync(join(root, 'scripts', 'pack', 'coffer.mjs'), join(folder, 'coffer.mjs'))
for (const file of ['README.md', 'needs-bun.js']) {
  cpSync(join(root, 'scripts', 'pack', file), join(folder, file))
}
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifestOf(), undefined, 2)}\n`)
await run(['npm', 'pack', '--silent', '--pack-destination', join(root, 'dist')], folder)
console.log('dist/npm, and its archive in dist')
