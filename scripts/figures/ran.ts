/**
 * Finds the source files that a request runs in: a call at the beginning of each function reports.
 * @module
 */
import ts from 'typescript'

type Bodied = ts.FunctionLikeDeclaration & { readonly body: ts.Node }

const isBodied = (node: ts.Node): node is Bodied =>
  ts.isFunctionLike(node) && 'body' in node && node.body !== undefined

/** After the directives and the brace of a block; around an expression. */
function insertionsFor({ body }: Bodied, source: ts.SourceFile, call: string) {
  const start = body.getStart(source)
  if (ts.isBlock(body)) return [{ at: start + 1, text: `${call};` }]
  return [
    { at: start, text: `(${call}, ` },
    { at: body.end, text: ')' },
  ]
}

/** @returns the text with a call of `__ran` at the beginning of each of its functions */
function withCalls(path: string, text: string): string {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const call = `globalThis.__ran?.(${JSON.stringify(path)})`
  const insertions: { readonly at: number; readonly text: string }[] = []
  const visit = (node: ts.Node): void => {
    if (isBodied(node)) insertions.push(...insertionsFor(node, source, call))
    node.forEachChild(visit)
  }
  visit(source)
  let out = ''
  let from = 0
  for (const { at, text: inserted } of insertions.toSorted((a, b) => a.at - b.at)) {
    out += text.slice(from, at) + inserted
    from = at
  }
  return out + text.slice(from)
}

/** Inserts the calls in all files below a folder that are imported from now on. */
export function watchCalls(folder: string): void {
  Bun.plugin({
    name: 'ran',
    setup(build) {
      const filter = new RegExp(`^${RegExp.escape(`${folder}/`)}.*\\.ts$`)
      build.onLoad({ filter }, async ({ path }) => ({
        contents: withCalls(path, await Bun.file(path).text()),
        loader: 'ts',
      }))
    },
  })
}

/** @returns the files in which a function ran before the promise settled */
export async function filesOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const files = new Set<string>()
  Object.assign(globalThis, { __ran: (path: string) => void files.add(path) })
  try {
    await work()
  } finally {
    Object.assign(globalThis, { __ran: undefined })
  }
  return [...files].toSorted()
}
