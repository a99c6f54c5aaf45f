/**
 * Makes `dist/site` from the pages in `docs/`: `bun run site`, or `bun run site --base /coffer/` if
 * it is not at the root of its host. First regenerates the evidence pages.
 *
 * The site generator and the diagram renderer are packages of their own
 * (`scripts/site/package.json`), as nothing else needs them; their install scripts never run.
 * @module
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { composeSite, type Draw } from './site/pages.ts'

const root = resolve(import.meta.dir, '..')
const home = join(root, 'scripts', 'site')
const pagesFolder = join(home, 'dist', 'pages')

/** Exits with the code of a failed command. */
async function run(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { cwd: home, stdin: 'ignore' })
  const code = await child.exited
  if (code !== 0) process.exit(code)
}

interface Mermaid {
  renderMermaidSVG(diagram: string, options: Readonly<Record<string, unknown>>): string
}

/** In the colours of the theme, light or dark. */
async function loadDraw(): Promise<Draw> {
  const path = Bun.resolveSync('beautiful-mermaid', home)
  const { renderMermaidSVG } = (await import(path)) as Mermaid
  const options = { bg: 'var(--vp-c-bg)', fg: 'var(--vp-c-text-1)', transparent: true }
  return diagram => renderMermaidSVG(diagram, options)
}

const isPart = (name: string): boolean => !/^[._]/.test(name)

const quietly = ['--ignore-scripts', '--no-progress', '--no-summary']
await run([process.execPath, join(root, 'scripts/evidence.ts')])
await run([process.execPath, 'install', '--frozen-lockfile', ...quietly])
const { pages, assets } = composeSite(
  {
    read: path => readFileSync(join(root, path), 'utf8'),
    list: path => readdirSync(join(root, path)).filter(isPart).toSorted(),
  },
  await loadDraw(),
)
rmSync(pagesFolder, { recursive: true, force: true })
for (const [page, text] of pages) {
  mkdirSync(dirname(join(pagesFolder, page)), { recursive: true })
  writeFileSync(join(pagesFolder, page), text)
}
mkdirSync(join(pagesFolder, 'public'), { recursive: true })
for (const asset of assets) {
  cpSync(join(root, asset), join(pagesFolder, 'public', basename(asset)))
}
await run([process.execPath, 'node_modules/.bin/vitepress', 'build', ...process.argv.slice(2)])
console.log(`site: dist/site, ${pages.size} pages for any server of files`)
