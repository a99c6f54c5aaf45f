/**
 * Configuration of VitePress: the pages that `scripts/site.ts` composes, a search that runs in the
 * browser, and nothing from another host.
 * @module
 */
import { icon, siteVariables } from '../../../src/lib/look.ts'
import { anchorOf, navigation, pageOf } from '../navigation.ts'

const linkOf = (file: string): string => `/${(pageOf(file) ?? '').replace(/(?:index)?\.md$/, '')}`

export default {
  title: 'Coffer',
  description: 'A tokenization vault in one binary.',
  lang: 'en',
  head: [
    ['style', {}, siteVariables],
    ['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }],
  ],
  srcDir: 'dist/pages',
  outDir: '../../dist/site',
  cacheDir: 'dist/cache',
  markdown: { anchor: { slugify: anchorOf } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: navigation.map(({ title, entries }) => ({
      text: title,
      items: entries.map(entry => ({ text: entry.title, link: linkOf(entry.file) })),
    })),
  },
}
