/**
 * Declarations of a package's exports, and of all types that these use.
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'

const imported = /((?:from|import\()\s*['"])(\.{1,2}\/[^'"]+)\.ts(['"])/g

/** Drops module docblocks and other text that only adds length. */
const shorten = (text: string): string =>
  text
    .replace(/^\/\*\*\n(?: \*[^\n]*\n)*? \* @module\n(?: \*[^\n]*\n)*? \*\/\n/, '')
    .replaceAll(/^(?: {4})+/gm, spaces => '\t'.repeat(spaces.length / 4))
    .replaceAll(/;$(?!\s*[[(<])/gm, '')
    .replaceAll(/^\s*\*\n(?=\s*\* @)/gm, '')

/** `a.d.ts` lies beside `a.js`: with `.ts` in the path it would not be found. */
const withJs = (text: string): string => text.replaceAll(imported, '$1$2.js$3')

const pathsIn = (path: string, text: string): readonly string[] =>
  [...text.matchAll(imported)].map(([, , to = '']) => `${join(dirname(path), to)}.d.ts`)

function declare(root: string, entries: readonly string[]): ReadonlyMap<string, string> {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), path => ts.sys.readFile(path))
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const program = ts.createProgram(
    entries.map(entry => join(root, 'src', entry)),
    {
      ...options,
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      stripInternal: true,
    },
  )
  const texts = new Map<string, string>()
  const { diagnostics } = program.emit(undefined, (path, text) => {
    texts.set(relative(join(root, 'src'), path), text)
  })
  const [fault] = diagnostics
  if (fault !== undefined) throw new Error(ts.flattenDiagnosticMessageText(fault.messageText, ' '))
  return texts
}

/**
 * @param entries below `src`
 * @throws Error for code that does not compile
 */
export function writeTypes(root: string, folder: string, entries: readonly string[]): void {
  const texts = declare(root, entries)
  const wanted = new Set(entries.map(entry => entry.replace(/\.ts$/, '.d.ts')))
  // Paths that are added during the walk are walked too.
  for (const path of wanted) {
    const text = texts.get(path) ?? ''
    for (const to of pathsIn(path, text)) wanted.add(to)
    const file = join(folder, 'types', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, shorten(withJs(text)))
  }
}
