/**
 * Runs programs that have the package as it is published, in Bun, in Node.js and in the runtimes
 * that `scripts/install-runtimes` installs.
 * @module
 */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { version } from '../../../package.json' with { type: 'json' }
import { atEnd } from '../../support/at-end.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { blocksOf, readPage, runIn, type Ended } from '../../support/page.ts'
import { openPage, type BrowserName } from '../../browser/support/browsers.ts'
import { installInto } from '../install.ts'
import type { Scene, Stage } from './scene.ts'

const root = resolve(import.meta.dir, '../../..')
const archive = join(root, 'dist', `coffer-${version}.tgz`)
const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
const installed = join(cache, 'coffer/runtimes-2.9.6-1.20261117.1/bin')

const deno = join(installed, 'deno')
const workerd = join(installed, 'workerd')
export const hasDeno = existsSync(deno)
export const hasWorkerd = existsSync(workerd)
export const hasNode = Bun.which('node') !== null

/** An application that has the package and the story, which knows where it plays. */
export async function makeApplication(scene: Scene): Promise<string> {
  const folder = temporaryFolder()
  const packages = join(folder, 'node_modules')
  mkdirSync(packages)
  const { exitCode, stderr } = await runIn(packages, ['tar', '-xzf', archive])
  if (exitCode !== 0) throw new Error(`the package is made by npm run pack: ${stderr}`)
  renameSync(join(packages, 'package'), join(packages, 'coffer'))
  const story = await Bun.file(join(import.meta.dir, 'story.ts')).text()
  const transpiler = new Bun.Transpiler({ loader: 'ts', target: 'browser' })
  const files = {
    'package.json': JSON.stringify({ name: 'shop', private: true, type: 'module' }),
    'story.mjs': transpiler.transformSync(story),
    'scene.mjs': `export default ${JSON.stringify(scene)}`,
    'program.mjs': `import scene from './scene.mjs'
      import { makeStory } from './story.mjs'
      console.log(JSON.stringify(await makeStory(scene)()))`,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

/** Runs Deno with a cache of its own, and nothing from another host. */
export const runDeno = (folder: string, words: readonly string[]): Promise<Ended> =>
  runIn(folder, [deno, ...words], {
    DENO_DIR: join(folder, '.deno'),
    DENO_NO_UPDATE_CHECK: '1',
    NO_COLOR: '1',
  })

async function tellIn(scene: Scene, run: (folder: string) => Promise<Ended>): Promise<unknown> {
  const { exitCode, stdout, stderr } = await run(await makeApplication(scene))
  if (exitCode !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

export const tellInBun = (scene: Scene): Promise<unknown> =>
  tellIn(scene, folder => runIn(folder, [process.execPath, 'program.mjs']))

export const tellInNode = (scene: Scene): Promise<unknown> =>
  tellIn(scene, folder => runIn(folder, ['node', 'program.mjs']))

/** Grants no right but the network of this machine. */
export const denoRun = ['run', '--no-prompt', '--cached-only', '--allow-net=127.0.0.1'] as const

export const tellInDeno = (scene: Scene): Promise<unknown> =>
  tellIn(scene, folder => runDeno(folder, [...denoRun, 'program.mjs']))

/** Without a bundler: the page says itself where the package is. */
const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title>
  <link rel="icon" href="data:,">
  <script type="importmap">
    {"imports": {"coffer/client": "/node_modules/coffer/client.js"}}
  </script>
  <script type="module">
    import scene from '/scene.mjs'
    import { makeStory } from '/story.mjs'
    globalThis.tell = makeStory(scene)
  </script></html>`

/** Tells the story in a page of another origin than the vault's. */
export async function tellInPage(name: BrowserName, { scene, publish }: Stage): Promise<unknown> {
  const folder = await makeApplication(scene)
  writeFileSync(join(folder, 'page.html'), html)
  const page = await openPage(name)
  await page.goto(`${publish(folder)}/page.html`, { waitUntil: 'load' })
  return page.evaluate('tell()')
}

/** Shows the page of docs/client.md, with the package `@coffer/client`. */
export async function showPage(name: BrowserName, { scene, publish }: Stage): Promise<unknown> {
  const { folder } = await installInto(['@coffer/client'], ['--offline'])
  const [block = ''] = blocksOf(readPage('docs/client.md'), 'html')
  const { address, keys } = scene
  const here = block.replace('http://127.0.0.1:3333', address).replace('key_public', keys.public)
  writeFileSync(join(folder, 'page.html'), here)
  const page = await openPage(name)
  await page.goto(`${publish(folder)}/page.html`)
  await page.waitForFunction(`document.querySelector('#card').textContent !== ''`)
  return page.$eval('#card', each => each.textContent)
}

const worker = `import scene from './scene.mjs'
  import { makeStory } from './story.mjs'
  const tell = makeStory(scene)
  export default {
    async fetch(request, { VAULT }) {
      const isBound = new URL(request.url).pathname === '/bound'
      const reach = isBound ? makeStory(scene, (url, init) => VAULT.fetch(url, init)) : tell
      return Response.json(await reach())
    },
  }`

const configOf = ({ address }: Scene): string => `
  using Workerd = import "/workerd/workerd.capnp";
  const config :Workerd.Config = (
    services = [
      (name = "worker", worker = .worker),
      (name = "internet", network = (allow = ["private"])),
      (name = "vault", external = (address = "${new URL(address).host}", http = ())),
    ],
    sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "worker")],
  );
  const worker :Workerd.Worker = (
    compatibilityDate = "2025-01-01",
    modules = [
      (name = "worker.mjs", esModule = embed "worker.mjs"),
      (name = "scene.mjs", esModule = embed "scene.mjs"),
      (name = "story.mjs", esModule = embed "story.mjs"),
      (name = "coffer/client", esModule = embed "node_modules/coffer/client.js"),
    ],
    bindings = [(name = "VAULT", service = "vault")],
  );`

/** @returns where the worker answers with its story; at `/bound` it has the vault as a binding */
export async function startWorker(scene: Scene): Promise<string> {
  const folder = await makeApplication(scene)
  writeFileSync(join(folder, 'worker.mjs'), worker)
  writeFileSync(join(folder, 'config.capnp'), configOf(scene))
  const child = Bun.spawn([workerd, 'serve', '--control-fd=1', 'config.capnp'], {
    cwd: folder,
    env: {},
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  atEnd(async () => {
    child.kill()
    await child.exited
  })
  let text = ''
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece
    const port = /"port":(\d+)/.exec(text)?.[1]
    if (port !== undefined) return `http://127.0.0.1:${port}`
  }
  throw new Error(`workerd has ended: ${text}`)
}

export async function askWorker(address: string): Promise<unknown> {
  const answer = await fetch(address, { proxy: '' })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.status} ${text}`)
  return JSON.parse(text)
}
