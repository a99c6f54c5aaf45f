/**
 * Pages that use the card fields by a component of React or by an element, bundled as a shop does.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { atEnd } from '../../support/at-end.ts'
import { temporaryFolder } from '../../support/folders.ts'

const root = resolve(import.meta.dir, '../../..')

/** A version of React that is installed beside the newest one. */
const nameIn = (version: string, path: string): string =>
  version === '18' ? path.replace(/^(react(?:-dom)?)(?=\/|$)/, '$1-18') : path

async function bundle(code: string, version: string): Promise<string> {
  const entry = join(temporaryFolder(), 'page.js')
  writeFileSync(entry, code)
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: 'browser',
    define: { 'process.env.NODE_ENV': '"development"' },
    plugins: [
      {
        name: 'from the root',
        setup: build =>
          void build.onResolve({ filter: /^(?:coffer|react|react-dom)(?:\/|$)/ }, ({ path }) => ({
            path: Bun.resolveSync(nameIn(version, path), root),
          })),
      },
    ],
  })
  return (await outputs[0]?.text()) ?? ''
}

/**
 * @param code of a module
 * @param version of React
 * @returns the address of a page that runs it, with an element `root`
 */
export async function openBundledPage(code: string, version = '19'): Promise<string> {
  const script = await bundle(code, version)
  const html = `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">
<div id="root"></div><script type="module" src="/page.js"></script></html>`
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) =>
      url.endsWith('/page.js')
        ? new Response(script, { headers: { 'content-type': 'text/javascript' } })
        : new Response(html, { headers: { 'content-type': 'text/html' } }),
  })
  atEnd(() => server.stop(true))
  return `http://localhost:${server.port}`
}
