/**
 * Pages in the form of the site generator: links lead to pages of the site, names of pages become
 * links, and diagrams become pictures.
 * @module
 */
import { posix } from 'node:path'
import { anchorOf, entries, pageOf } from './navigation.ts'

/** Renders a Mermaid diagram as SVG. */
export type Draw = (diagram: string) => string

export interface Files {
  /** Reads a file of the project. */
  readonly read: (path: string) => string
  /** Lists the names of files right below a folder; empty for a file. */
  readonly list: (path: string) => readonly string[]
}

interface Site {
  /** By path below the site. */
  readonly pages: ReadonlyMap<string, string>
  /** Files that are copied unchanged, by name. */
  readonly assets: ReadonlySet<string>
}

const examplePage = (folder: string): string => `examples/${folder}.md`

interface Target {
  readonly url: string
  /** A file that must be copied unchanged. */
  readonly asset?: string
}

/** @throws Error for a link that leads to nothing on the site */
function targetOf(file: string, link: string): Target {
  const [path = '', hash] = link.split('#')
  const named = posix.normalize(posix.join(posix.dirname(file), path))
  const page = pageOf(named)
  if (page !== undefined) return { url: `/${page}${hash === undefined ? '' : `#${hash}`}` }
  const [, folder, name] = /^examples\/([\w-]+)(?:\/([\w.-]+))?$/.exec(named) ?? []
  if (folder !== undefined) {
    const anchor = name === undefined ? '' : `#${anchorOf(name)}`
    return { url: `/${examplePage(folder)}${anchor}` }
  }
  if (/^docs\/(?:img\/)?[\w-]+\.(?:svg|png|json|yml)$/.test(named)) {
    return { url: `/${posix.basename(named)}`, asset: named }
  }
  throw new Error(`${file}: the link ${link} leads to nothing on the site`)
}

/** A name in code, such as `docs/cli.md`, becomes a link if it is a page. */
const linkName = (text: string, name: string): string => {
  const page = pageOf(name) ?? pageOf(`docs/${name}`)
  return page === undefined ? text : `[${text}](/${page})`
}

const svgStyle = /<style>[^]*?<\/style>/

const textOf = (svg: string): string =>
  svg
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')

/**
 * A diagram uses the styles of the theme: one page may have several, and none may load a font.
 * Blank lines are removed, which would end the HTML in Markdown.
 *
 * @throws Error for missing words: a label has to stand where its node comes first
 */
function pictureOf(diagram: string, draw: Draw): string {
  const svg = draw(diagram).replace(svgStyle, '').replaceAll(/\n\s*/g, '')
  const drawn = textOf(svg)
  for (const [, label = ''] of diagram.matchAll(/"([^"]+)"/g)) {
    const missing = label.split('<br>').find(line => !drawn.includes(line))
    if (missing !== undefined) throw new Error(`a diagram does not draw: ${missing}`)
  }
  return `<div class="picture">${svg}</div>`
}

function composeText(file: string, text: string, assets: Set<string>): string {
  const linked = text.replaceAll(/\]\((?!https?:|#)([^)\s]+)\)/g, (_, link: string) => {
    const { url, asset } = targetOf(file, link)
    if (asset !== undefined) assets.add(asset)
    return `](${url})`
  })
  return linked.replaceAll(/(?<!\[)`([\w/-]+\.md)`/g, linkName)
}

/** Composes text outside of fences; inside them only diagrams change. */
function composePage(file: string, text: string, draw: Draw, assets: Set<string>): string {
  const parts = text.split(/^(```\w*\n[^]*?^```$)/m)
  return parts
    .map(part => {
      const [, diagram] = /^```mermaid\n([^]*?)```$/.exec(part) ?? []
      if (diagram !== undefined) return pictureOf(diagram, draw)
      return part.startsWith('```') ? part : composeText(file, part, assets)
    })
    .join('')
}

const languages: Readonly<Record<string, string>> = {
  ts: 'ts',
  js: 'js',
  html: 'html',
  css: 'css',
  py: 'python',
  go: 'go',
}

/** The files of an example, one below the other. */
function composeExample(folder: string, { read, list }: Files): string {
  const parts = list(`examples/${folder}`).map(name => {
    const language = languages[name.split('.').at(-1) ?? ''] ?? 'text'
    const text = read(`examples/${folder}/${name}`).trimEnd()
    return `## ${name}\n\n\`\`\`${language}\n${text}\n\`\`\`\n`
  })
  return [`# Example: ${folder}\n`, ...parts].join('\n')
}

/** Double braces are expressions of the vault, never the generator's. */
const asWritten = (text: string): string => `::: v-pre\n\n${text}\n\n:::\n`

export function composeSite(files: Files, draw: Draw): Site {
  const pages = new Map<string, string>()
  const assets = new Set<string>()
  for (const { file } of entries) {
    const page = pageOf(file) ?? file
    pages.set(page, composePage(file, files.read(file), draw, assets))
  }
  for (const folder of files.list('examples')) {
    pages.set(examplePage(folder), composeExample(folder, files))
  }
  return { pages: new Map([...pages].map(([page, text]) => [page, asWritten(text)])), assets }
}
