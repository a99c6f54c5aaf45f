/**
 * Figures of the size of the house, to compare before and after a change:
 *
 *     bun scripts/figures.ts [checkout] [--files]
 *
 * Counts lines of source, types that are declared twice (and names them), the files in which a
 * function runs for a request (`--files` names them), hand-kept references to tests, and words for
 * people to read.
 * @module
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { filesOf, watchCalls } from './figures/ran.ts'

const root = resolve(process.argv[2]?.startsWith('--') === false ? process.argv[2] : '.')
const isNaming = process.argv.includes('--files')

const namesBelow = (folder: string, ending: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith(ending))
    .map(name => join(folder, name))

const read = (name: string): string => readFileSync(join(root, name), 'utf8')
const sources = namesBelow('src', '.ts')
const texts = new Map(sources.map(name => [name, read(name)]))

/** True for pages that a script generates, and for the evidence behind the others. */
const isGenerated = (name: string): boolean =>
  /^docs\/(?:evidence\/|cli\.md|client-reference\.md)/.test(name)

const pages = [
  ...['README.md', 'SECURITY.md', 'CONTRIBUTING.md'].filter(name => existsSync(join(root, name))),
  ...namesBelow('docs', '.md'),
]
const written = pages.filter(name => !isGenerated(name))
const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0)
const tokensOf = (text: string): readonly string[] => text.split(/\s+/).filter(Boolean)
/** Everything between blanks, as `wc -w` counts. */
const wordsOf = (names: readonly string[]): number =>
  sum(names.map(name => tokensOf(read(name)).length))
const codeBlock = /^```[^]*?^```$/gm
/** Words of `docs` and `SECURITY.md`, without code blocks and the bars of tables. */
const proseOf = (names: readonly string[]): number =>
  sum(
    names
      .filter(name => !['README.md', 'CONTRIBUTING.md'].includes(name))
      .map(name => tokensOf(read(name).replaceAll(codeBlock, '')))
      .map(tokens => tokens.filter(token => /[\p{L}\p{N}]/u.test(token)).length),
  )
const countIn = (names: readonly string[], what: RegExp): number =>
  sum(names.map(name => [...read(name).matchAll(what)].length))

/**
 * The interface that `bun scripts/client-types.ts` prints of the schemas, for applications to
 * import. It shares its words with the server, so a name that means the same on both sides stays.
 */
const printedInterface = 'src/client/interface.ts'

/** Names of the exported types that more than one of these files declares. */
function typesTwice(names: readonly string[]): readonly string[] {
  const count = new Map<string, number>()
  for (const file of names) {
    const text = texts.get(file) ?? ''
    for (const [, name = ''] of text.matchAll(/^export (?:interface|type|class) (\w+)/gm)) {
      count.set(name, (count.get(name) ?? 0) + 1)
    }
  }
  return [...count].flatMap(([name, times]) => (times > 1 ? [name] : [])).toSorted()
}

const twice = typesTwice(sources.filter(name => name !== printedInterface))
const twiceWithPrinted = typesTwice(sources)

const card = {
  type: 'card',
  data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 },
}

/** Runs each once before, so that one-time set-up does not count. */
async function filesByRequest(): Promise<Readonly<Record<string, readonly string[]>>> {
  watchCalls(join(root, 'src'))
  const { openTestVault } = (await import(
    join(root, 'test/support/vault.ts')
  )) as typeof import('../test/support/vault.ts')
  const vault = await openTestVault()
  const key = await vault.application({
    name: 'Counted',
    type: 'private',
    rules: [
      {
        description: 'all',
        priority: 1,
        container: '/',
        transform: 'reveal',
        permissions: ['token:create', 'token:read', 'token:search'],
      },
    ],
  })
  const create = () => vault.ask('POST', '/tokens', { key, body: card })
  const { body } = await create()
  const get = () => vault.ask('GET', `/tokens/${String(body['id'])}`, { key })
  const search = () => vault.ask('POST', '/tokens/search', { key, body: { query: 'type:card' } })
  const files: Record<string, readonly string[]> = {}
  for (const [name, ask] of Object.entries({ create, get, search })) {
    await ask()
    files[name] = await filesOf(async () => {
      const { status, text } = await ask()
      if (status >= 300) throw new Error(`${name}: ${status} ${text}`)
    })
  }
  return files
}

const namesIn = (names: readonly string[]): string =>
  names.length === 0 ? '' : ` (${names.join(', ')})`

const figures: readonly (readonly [what: string, figure: number])[] = [
  ['files of src', sources.length],
  ['lines of src', sum([...texts.values()].map(text => text.split('\n').length - 1))],
  ['exported types', countIn(sources, /^export (?:interface|type|class) \w+/gm)],
  [`exported types declared twice${namesIn(twice)}`, twice.length],
  [`the same with the printed interface${namesIn(twiceWithPrinted)}`, twiceWithPrinted.length],
  ['"whoever" in src and in documents', countIn([...sources, ...written], /\bwhoever\b/gi)],
  ['references to tests kept by hand', countIn(written, /\.test\.ts ›/g)],
  ['assertions', countIn(namesBelow('test', '.ts'), /\bexpect(?:Soft)?\(/g)],
  ['words of documents for people', wordsOf(written)],
  ['of these in docs and SECURITY.md, without code and bars of tables', proseOf(written)],
  ['words of generated documents and evidence', wordsOf(pages.filter(isGenerated))],
]
for (const [what, figure] of figures) console.log(`${what}: ${figure}`)
for (const [name, files] of Object.entries(await filesByRequest())) {
  console.log(`files in which a function runs for a ${name}: ${files.length}`)
  if (isNaming) console.log(files.map(file => `  ${file.slice(root.length + 1)}`).join('\n'))
}
process.exit(0)
