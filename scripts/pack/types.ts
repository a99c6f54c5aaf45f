/**
 * Declarations of what the package exports, and of all that they lead to.
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'

const entries = [
  'index.ts',
  'client/index.ts',
  'client/socket.ts',
  'elements/host/index.ts',
  'elements/element/index.ts',
  'elements/react/index.ts',
  'testing/index.ts',
]

/** Beside `a.js` lies `a.d.ts`: of a path that ends with `.ts` nobody would find it. */
const withJs = (text: string): string =>
  text.replaceAll(/((?:from|import\()\s*['"]\.{1,2}\/[^'"]+)\.ts(['"])/g, '$1.js$2')

/** @throws Error for what does not compile */
export function writeTypes(root: string, folder: string): void {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), path => ts.sys.readFile(path))
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const source = join(root, 'src')
  const program = ts.createProgram(
    entries.map(entry => join(source, entry)),
    { ...options, noEmit: false, declaration: true, emitDeclarationOnly: true },
  )
  const { diagnostics } = program.emit(undefined, (path, text) => {
    const file = join(folder, 'types', relative(source, path))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, withJs(text))
  })
  const [fault] = diagnostics
  if (fault !== undefined) throw new Error(ts.flattenDiagnosticMessageText(fault.messageText, ' '))
}
