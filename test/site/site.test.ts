/**
 * The site as it is handed out: nothing in it comes from another host, no link of it leads nowhere,
 * and its search finds what stands on the pages. It is made first, by `scripts/site.ts`.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix, resolve } from 'node:path'
import { entries, pageOf } from '../../scripts/site/navigation.ts'
import { runIn } from '../support/page.ts'

const root = resolve(import.meta.dir, '../..')
const site = join(root, 'dist', 'site')
const buildMsMax = 600_000

let files: readonly string[]
let pages: readonly (readonly [string, string])[]

const read = (file: string): string => readFileSync(join(site, file), 'utf8')
const ending = (...ends: readonly string[]) =>
  files.filter(file => ends.some(end => file.endsWith(end)))

beforeAll(async () => {
  const env = { HOME: process.env['HOME'] ?? root }
  const made = await runIn(root, [process.execPath, 'scripts/site.ts'], env)
  expect([made.exitCode, made.exitCode === 0 ? '' : made.stdout + made.stderr]).toEqual([0, ''])
  files = readdirSync(site, { recursive: true, encoding: 'utf8' })
  pages = ending('.html').map(file => [file, read(file)])
}, buildMsMax)

const foreign = /^(?:[a-z]+:)?\/\//i

describe('a file that a browser loads', () => {
  test('comes from the host of the page', () => {
    const loads = pages.flatMap(([file, text]) =>
      [...text.matchAll(/<(script|link|img|iframe|source|use|object|embed)\b[^>]*>/g)].flatMap(
        ([tag]) =>
          [...tag.matchAll(/\b(?:src|href|srcset|data)="([^"]*)"/g)].map(([, url = '']) => [
            file,
            url,
          ]),
      ),
    )
    expect(loads.length).toBeGreaterThan(pages.length * 3)
    expect(loads.filter(([, url = '']) => foreign.test(url))).toEqual([])
  })

  test('is named by no style or script of another host', () => {
    const styles = [...ending('.css', '.svg').map(read), ...pages.map(([, text]) => text)]
    const urls = styles.flatMap(text =>
      [...text.matchAll(/(?:url\(|@import\s+)["']?([^"')\s]+)/g)].map(([, url = '']) => url),
    )
    expect(urls.length).toBeGreaterThan(10)
    expect(urls.filter(url => foreign.test(url))).toEqual([])
    const scripts = [...ending('.js').map(read), ...pages.map(([, text]) => text)]
    const imports = scripts.flatMap(text =>
      [...text.matchAll(/\b(?:from|import|fetch|importScripts)\s*\(?\s*["'`]([^"'`]+)/g)].map(
        ([, url = '']) => url,
      ),
    )
    expect(imports.length).toBeGreaterThan(pages.length)
    expect(imports.filter(url => foreign.test(url))).toEqual([])
  })

  test('is there', () => {
    const missing = pages.flatMap(([file, text]) =>
      [...text.matchAll(/\b(?:src|href)="(\/[^"#]*)/g)]
        .map(([, url = '']) => url.replace(/\/$/, '/index.html').replace(/^\//, ''))
        .filter(path => !existsSync(join(site, path)))
        .map(path => [file, path]),
    )
    expect(missing).toEqual([])
  })
})

const anchorsIn = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/\bid="([^"]+)"/g)].map(([, id = '']) => id))

test('every link within the site leads to a page, and to a place on it', () => {
  const anchors = new Map(pages.map(([file, text]) => [file, anchorsIn(text)]))
  let count = 0
  const dead = pages.flatMap(([file, text]) =>
    [...text.matchAll(/<a\b[^>]*\bhref="([^"]+)"/g)]
      .map(([, url = '']) => url)
      .filter(url => !/^[a-z]+:/i.test(url))
      .filter(url => {
        count += 1
        const [path = '', hash] = url.split('#')
        const place = path === '' ? file : posix.join(posix.dirname(`/${file}`), path).slice(1)
        const target = path.startsWith('/') ? path.slice(1) : place
        const page = target === '' || target.endsWith('/') ? `${target}index.html` : target
        const known = anchors.get(page)
        if (known === undefined) return !existsSync(join(site, page))
        return hash !== undefined && hash !== '' && !known.has(decodeURIComponent(hash))
      })
      .map(url => [file, url]),
  )
  expect(count).toBeGreaterThan(500)
  expect(dead).toEqual([])
})

test('every page of the navigation is there, with its words', () => {
  for (const { file } of entries) {
    const text = read((pageOf(file) ?? '').replace(/md$/, 'html'))
    const [, heading = ''] = /^# (.+)$/m.exec(readFileSync(join(root, file), 'utf8')) ?? []
    expect([file, text.includes(heading.replaceAll('`', ''))]).toEqual([file, true])
  }
})

test('diagrams are drawn, and their source is nowhere', () => {
  const home = read('index.html')
  expect(home).toMatch(/<div class="picture"[^>]*><svg/)
  expect(home).toContain('card number, public key')
  for (const [file, text] of pages)
    expect([file, text.includes('flowchart ')]).toEqual([file, false])
})

test('expressions stand as they are written', () => {
  expect(read('expressions.html').replaceAll(/<[^>]*>/g, '')).toContain(
    '{{ data.number | reveal_last: 4 }}',
  )
})

interface Index {
  search(query: string): readonly { readonly id: string }[]
}

interface MiniSearch {
  loadJSON(json: string, options: object): Index
}

test.each([
  ['detokenize', 'client.html'],
  ['reveal_last', 'expressions.html'],
  ['overSocket', 'client.html'],
  ['nonce', 'concepts.html'],
  ['systemd', 'operations.html'],
  ['TestMain', 'testing.html'],
])('the search finds %s on %s', async (word, page) => {
  const [chunk = ''] = files.filter(file => file.includes('@localSearchIndexroot'))
  const { default: json } = (await import(join(site, chunk))) as { default: string }
  const path = Bun.resolveSync('minisearch', join(root, 'scripts', 'site'))
  const { default: search } = (await import(path)) as { default: MiniSearch }
  const options = { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'] }
  const found = search.loadJSON(json, options).search(word)
  expect(found.map(({ id }) => id.split('#')[0])).toContain(`/${page}`)
})
