/**
 * The project as the tidy rules see it: every file, and the syntax tree of the TypeScript ones.
 *
 * Rules get a `Project` and never the disk, so that each can be tried on a small sample.
 * Source: docs/decisions.md, "House rules".
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import ts from 'typescript'

interface Import {
  /** Specifier as written: `./limits.ts`, `lmdb`, `node:fs`. */
  readonly specifier: string
  /** The file it names, from the root of the project; `undefined` for packages and built-ins. */
  readonly path: string | undefined
}

export interface Source {
  /** Path from the root of the project, with `/`. */
  readonly path: string
  readonly text: string
  readonly ast: ts.SourceFile
  readonly imports: readonly Import[]
}

export interface Project {
  /** Text by path, TypeScript or not. */
  readonly files: ReadonlyMap<string, string>
  readonly sources: readonly Source[]
}

/** `check` returns a line for each finding: its place and the fault. */
export interface Rule {
  readonly name: string
  readonly check: (project: Project) => readonly string[]
}

const skippedNames = new Set(['node_modules', 'dist', '.git', '__pycache__', '.pytest_cache'])

const resolveImport = (from: string, specifier: string): Import => ({
  specifier,
  path: specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : undefined,
})

const parseSource = (path: string, text: string): Source => ({
  path,
  text,
  ast: ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true),
  imports: ts
    .preProcessFile(text, true, true)
    .importedFiles.map(({ fileName }) => resolveImport(path, fileName)),
})

export function makeProject(files: ReadonlyMap<string, string>): Project {
  const typescript = [...files].filter(([path]) => /\.tsx?$/.test(path))
  return { files, sources: typescript.map(([path, text]) => parseSource(path, text)) }
}

/** Paths below `root`, without anything installed, built or kept by git. */
function listFiles(root: string, folder = ''): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true })
  return entries
    .filter(entry => !skippedNames.has(entry.name))
    .flatMap(entry => {
      const path = posix.join(folder, entry.name)
      return entry.isDirectory() ? listFiles(root, path) : entry.isFile() ? [path] : []
    })
}

export const readProject = (root: string): Project =>
  makeProject(new Map(listFiles(root).map(path => [path, readFileSync(join(root, path), 'utf8')])))

/** Every node of a tree, parents first, without tokens that mean nothing by themselves. */
export function nodesOf(node: ts.Node): ts.Node[] {
  const nodes: ts.Node[] = []
  const add = (each: ts.Node): void => {
    nodes.push(each)
    ts.forEachChild(each, add)
  }
  add(node)
  return nodes
}

/** Every token of a tree, as comments precede tokens. */
export const tokensOf = (node: ts.Node): ts.Node[] => {
  const children = node.getChildren()
  return children.length === 0 ? [node] : children.flatMap(tokensOf)
}

/** Returns `path:line` of a node, for a finding. */
export const placeOf = (source: Source, node: ts.Node): string => {
  const { line } = source.ast.getLineAndCharacterOfPosition(node.getStart(source.ast))
  return `${source.path}:${line + 1}`
}

export const isBelow = (path: string, folders: readonly string[]): boolean =>
  folders.some(folder => path === folder || path.startsWith(`${folder}/`))
