/**
 * Pages as the generator of the site takes them, without the generator.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { anchorOf, entries, pageOf } from '../../../scripts/site/navigation.ts'
import { composeSite, type Draw, type Files } from '../../../scripts/site/pages.ts'

const root = resolve(import.meta.dir, '../../..')
const real: Files = {
  read: path => readFileSync(join(root, path), 'utf8'),
  list: path => readdirSync(join(root, path)).filter(name => /^\w/.test(name)),
}
/** All words of the diagram. */
const draw: Draw = diagram => `<svg>${diagram.replaceAll('<br>', ' ').replaceAll('>', '')}</svg>`

/** One page that says this, and all others nothing. */
const pageWith = (text: string, drawing: Draw = draw): string => {
  const read = (path: string) => (path === 'docs/concepts.md' ? text : '')
  const { pages } = composeSite({ read, list: () => [] }, drawing)
  return pages.get('concepts.md')?.replace(/^::: v-pre\n\n([^]*)\n\n:::\n$/, '$1') ?? ''
}

test('every page of docs stands in the navigation, once', () => {
  const pages = ['docs', 'docs/evidence'].flatMap(folder =>
    readdirSync(join(root, folder))
      .filter(name => name.endsWith('.md'))
      .map(name => `${folder}/${name}`),
  )
  const listed = entries.map(({ file }) => file).filter(file => file.startsWith('docs/'))
  expect(listed.toSorted()).toEqual(pages.toSorted())
  for (const file of ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md']) {
    expect(pageOf(file)).toBeDefined()
  }
})

test('every page and example of the project is taken, and each of their links', () => {
  const { pages, assets } = composeSite(real, draw)
  expect(pages.size).toBe(entries.length + real.list('examples').length)
  const looks = ['light', 'dark', 'narrow']
  const pictures = [
    ...[...looks, 'error', 'done'].map(name => `docs/img/card-fields-${name}.png`),
    ...looks.map(name => `docs/img/interface-${name}.png`),
    ...['log-light', 'overview-light', 'token-light', 'tokens-narrow'].map(
      name => `docs/img/console-${name}.png`,
    ),
  ]
  expect([...assets].toSorted()).toEqual([...pictures, 'docs/performance.svg'].toSorted())
  expect(pages.get('examples/python.md')).toContain('## test_cards.py\n\n```python\n"""Tests of')
})

describe('a link', () => {
  test.each([
    ['[a](client.md)', '[a](/client.md)'],
    ['[a](client.md#errors)', '[a](/client.md#errors)'],
    ['[a](../README.md)', '[a](/index.md)'],
    ['[a](../SECURITY.md#out-of-scope)', '[a](/security.md#out-of-scope)'],
    ['[a](../examples/sidecar)', '[a](/examples/sidecar.md)'],
    ['[a](../examples/sidecar/app.ts)', '[a](/examples/sidecar.md#appts)'],
    ['![a](performance.svg)', '![a](/performance.svg)'],
    ['![a](img/a.png)', '![a](/a.png)'],
    ['[a](#rules) [b](https://semver.org)', '[a](#rules) [b](https://semver.org)'],
    [
      'see `docs/cli.md` and `SECURITY.md`',
      'see [`docs/cli.md`](/cli.md) and [`SECURITY.md`](/security.md)',
    ],
    ['see `docs/nothing.md` and `cli.ts`', 'see `docs/nothing.md` and `cli.ts`'],
    ['[`docs/cli.md`](cli.md)', '[`docs/cli.md`](/cli.md)'],
    ['```sh\n[a](nothing.md) `docs/cli.md`\n```', '```sh\n[a](nothing.md) `docs/cli.md`\n```'],
  ])('%j becomes %j', (text, made) => {
    expect(pageWith(text)).toBe(made)
  })

  test.each(['nothing.md', '../src/main.ts', '../docs', '../examples'])('to %s is told', link => {
    expect(() => pageWith(`[a](${link})`)).toThrow(`docs/concepts.md: the link ${link} leads to`)
  })
})

describe('a diagram', () => {
  const text = '```mermaid\nflowchart LR\n  a["A<br>& B"] --> b["C"]\n```'

  test('is a picture without styles and blank lines', () => {
    const drawing = () =>
      '<svg>\n<style>\n  a { b: url(c) }\n</style>\n\n<text>A</text>&amp; B C</svg>'
    expect(pageWith(text, drawing)).toBe(
      '<div class="picture"><svg><text>A</text>&amp; B C</svg></div>',
    )
  })

  test('that lacks a word of a label is told', () => {
    expect(() => pageWith(text, () => '<svg>A C</svg>')).toThrow('a diagram does not draw: & B')
  })
})

test.each([
  ['6 Expressions', '6-expressions'],
  ['What `--json` prints', 'what---json-prints'],
  ['GET /tokens/{id}', 'get-tokensid'],
  ['Where is …', 'where-is-'],
  ['app.ts', 'appts'],
])('the place of %j is called %j, as GitHub calls it', (heading, anchor) => {
  expect(anchorOf(heading)).toBe(anchor)
})
