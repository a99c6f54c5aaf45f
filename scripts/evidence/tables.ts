/**
 * Evidence: the tests that prove each statement. Statements are table rows in the documents whose
 * first cell is an id (`H126`); tests name ids in their tags. The pages join the two.
 * @module
 */
import { readTags } from './tags.ts'

/** Documents with statements, and the page that names their tests. */
interface Documents {
  readonly title: string
  readonly files: readonly string[]
  readonly page: string
}

export const documents: readonly Documents[] = [
  {
    title: 'Interface',
    files: ['docs/evidence/specification.md', 'docs/interface.md'],
    page: 'docs/evidence/interface.md',
  },
  {
    title: 'Hostile inputs',
    files: ['docs/hostile-inputs.md'],
    page: 'docs/evidence/hostile-inputs.md',
  },
  { title: 'Security', files: ['SECURITY.md'], page: 'docs/evidence/security.md' },
  {
    title: 'Compatibility',
    files: ['docs/compatibility.md'],
    page: 'docs/evidence/compatibility.md',
  },
]

/** Text by path, from the root of the project: the documents, and the tests. */
export type Files = ReadonlyMap<string, string>

const isTest = (path: string): boolean => path.endsWith('.test.ts')

interface Statement {
  readonly id: string
  /** The other cells of its row, without links. */
  readonly text: string
}

/** Lists the statements of a document, in order, each as often as it stands there. */
const statementsOf = (text: string): readonly Statement[] =>
  [...text.matchAll(/^\| ([A-Z]\d+(?:\.\d+)?) \|(.*)\|$/gm)].map(([, id = '', rest = '']) => ({
    id,
    text: rest
      .split(/(?<!\\)\|/)
      .map(cell => cell.trim().replaceAll(/\[([^\]]*)\]\([^)\s]*\)/g, '$1'))
      .filter(Boolean)
      .join(' → '),
  }))

interface Evidence {
  /** For each id, `file › suite › test` of the tests with that tag. */
  readonly tests: ReadonlyMap<string, readonly string[]>
  /** Faults of the tags themselves. */
  readonly faults: readonly string[]
}

function readEvidence(files: Files): Evidence {
  const tests = new Map<string, string[]>()
  const faults: string[] = []
  for (const [path, text] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (!isTest(path)) continue
    const { proofs, astray } = readTags(path, text)
    faults.push(...astray.map(line => `${path}:${line}: a tag stands above no test`))
    for (const { ids, names } of proofs) {
      const proof = [path.replace(/^test\//, ''), ...names].join(' › ')
      for (const id of ids) tests.set(id, [...(tests.get(id) ?? []), proof])
    }
  }
  return { tests, faults }
}

const statementsIn = (files: Files, paths: readonly string[]): readonly Statement[] =>
  paths.flatMap(path => statementsOf(files.get(path) ?? ''))

/** @returns faults: a statement without a test, or twice; a tag without a statement */
export function findFaults(files: Files): readonly string[] {
  const { tests, faults } = readEvidence(files)
  const ids = statementsIn(
    files,
    documents.flatMap(each => each.files),
  ).map(({ id }) => id)
  const known = new Set(ids)
  return [
    ...faults,
    ...ids.filter((id, at) => ids.indexOf(id) !== at).map(id => `${id}: stands twice`),
    ...[...known].filter(id => !tests.has(id)).map(id => `${id}: no test is tagged with it`),
    ...[...tests]
      .filter(([id]) => !known.has(id))
      .map(([id, [test = '']]) => `${id}: is no statement, and a tag at ${test}`),
  ]
}

const cell = (proof: string): string => `\`${proof.replaceAll('`', "'").replaceAll('|', '\\|')}\``

/** @returns the text of each page by path */
export function composePages(files: Files): ReadonlyMap<string, string> {
  const { tests } = readEvidence(files)
  return new Map(
    documents.map(({ title, files: paths, page }) => {
      const rows = statementsIn(files, paths).map(({ id, text }) => {
        const proofs = [...new Set(tests.get(id) ?? [])].map(cell)
        return `| ${id} | ${text} | ${proofs.join('<br>')} |`
      })
      const names = paths.map(path => `\`${path}\``).join(' and ')
      const text = `# Evidence: ${title}

\`bun scripts/evidence.ts\` makes this page of the tags at the tests. It names the tests that prove
each statement of ${names}: the file below \`test/\`, the suites, then the test or the row.

| Id | Statement | Tests |
| --- | --- | --- |
${rows.join('\n')}
`
      return [page, text]
    }),
  )
}
