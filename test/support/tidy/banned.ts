/**
 * Features that may be used only in their home, or nowhere: the clock, randomness, the environment,
 * the console, loose types, forgotten marks. Found in the syntax tree, never in the text.
 *
 * Source: docs/decisions.md, "House rules".
 * @module
 */
import ts from 'typescript'
import {
  isBelow,
  nodesOf,
  placeOf,
  tokensOf,
  type Project,
  type Rule,
  type Source,
} from './project.ts'

interface Ban {
  readonly name: string
  /** Paths below `src` that may use it. Tests and scripts may use anything. */
  readonly homes: readonly string[]
  /** `object.member`, as read, called or destructured. */
  readonly members: RegExp
  /** Names that may not be imported from a package or a built-in. */
  readonly imports: RegExp
}

const terminal = ['src/main.ts', 'src/cli', 'src/server']
const system = [
  'src/server/process/system.ts',
  'src/deps.ts',
  'src/client/platform.ts',
  'src/elements/frame/platform.ts',
  'src/console/app/platform.ts',
]
const nothing = /^(?!)/

const bans: readonly Ban[] = [
  {
    name: 'the clock',
    homes: system,
    members: /^(?:Date\.now|performance\.now|Bun\.nanoseconds|process\.(?:hrtime|uptime))$/,
    imports: /^(?:performance|hrtime)$/,
  },
  {
    name: 'randomness',
    homes: system,
    members:
      /^(?:crypto\.(?:random\w+|getRandomValues)|Bun\.randomUUID\w*|sodium\.randombytes\w*)$/,
    imports: /^(?:random(?:Bytes|UUID|Int|Fill|FillSync)|getRandomValues|randombytes\w*)$/,
  },
  { name: 'guessable randomness', homes: [], members: /^Math\.random$/, imports: nothing },
  {
    name: 'the environment',
    homes: terminal,
    members: /^(?:process|Bun)\.env$/,
    imports: /^env$/,
  },
  {
    name: 'the end of the process',
    homes: terminal,
    members: /^process\.(?:exit|exitCode|reallyExit)$/,
    imports: /^(?:exit|exitCode)$/,
  },
  { name: 'the console', homes: terminal, members: /^console\./, imports: /^console$/ },
]

/** `globalThis.Date.now` is `Date.now`. */
const withoutGlobal = (text: string): string => text.replace(/^(?:globalThis|global|self)\./, '')

/** Returns the members that a node reads, as `object.member` texts. */
function membersOf(node: ts.Node): string[] {
  if (ts.isPropertyAccessExpression(node)) {
    return [withoutGlobal(`${node.expression.getText()}.${node.name.text}`)]
  }
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
    return [withoutGlobal(`${node.expression.getText()}.${node.argumentExpression.text}`)]
  }
  if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name)) {
    const object = withoutGlobal(node.initializer?.getText() ?? '')
    return node.name.elements.map(part => `${object}.${(part.propertyName ?? part.name).getText()}`)
  }
  const isDate = (ts.isNewExpression(node) || ts.isCallExpression(node)) && isNowDate(node)
  return isDate ? ['Date.now'] : []
}

/** `new Date()` and `Date()` read the clock; `new Date(text)` does not. */
const isNowDate = (node: ts.NewExpression | ts.CallExpression): boolean =>
  withoutGlobal(node.expression.getText()) === 'Date' &&
  (ts.isCallExpression(node) || (node.arguments ?? []).length === 0)

function importedNames(node: ts.Node): string[] {
  if (!ts.isImportDeclaration(node) || !ts.isStringLiteral(node.moduleSpecifier)) return []
  const bindings = node.importClause?.namedBindings
  const outside = !node.moduleSpecifier.text.startsWith('.')
  if (!outside || bindings === undefined || !ts.isNamedImports(bindings)) return []
  return bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
}

function checkBans(source: Source): string[] {
  const found: string[] = []
  for (const node of nodesOf(source.ast)) {
    const members = membersOf(node)
    const names = importedNames(node)
    for (const ban of bans) {
      const hit =
        members.find(text => ban.members.test(text)) ?? names.find(name => ban.imports.test(name))
      if (hit === undefined || isBelow(source.path, ban.homes)) continue
      found.push(`${placeOf(source, node)}: ${hit} is ${ban.name}`)
    }
  }
  return found
}

const isAnyType = (node: ts.Node): boolean => node.kind === ts.SyntaxKind.AnyKeyword

/** A test that runs alone leaves all others out. */
const isOnly = (node: ts.Node): boolean =>
  ts.isPropertyAccessExpression(node) &&
  node.name.text === 'only' &&
  /^(?:test|it|describe)\b/.test(node.expression.getText())

const checkLoose = (source: Source): string[] =>
  nodesOf(source.ast).flatMap(node => {
    if (isAnyType(node)) return [`${placeOf(source, node)}: the type any`]
    return isOnly(node) ? [`${placeOf(source, node)}: a test that runs alone`] : []
  })

const mark = /@ts-(?:ignore|nocheck)|\b(?:TODO|FIXME)\b/

/** A comment lies between the full start of a token and its start. */
function checkMarks(source: Source): string[] {
  if (!mark.test(source.text)) return []
  return tokensOf(source.ast).flatMap(node => {
    const hit = mark.exec(source.text.slice(node.pos, node.getStart(source.ast)))
    return hit === null ? [] : [`${placeOf(source, node)}: ${hit[0]} above or before this line`]
  })
}

const inAll =
  (check: (source: Source) => readonly string[]): Rule['check'] =>
  ({ sources }: Project) =>
    sources.flatMap(check)

export const bannedRules: readonly Rule[] = [
  {
    name: 'clock, randomness, environment and console stay in their homes',
    check: ({ sources }) => sources.filter(({ path }) => isBelow(path, ['src'])).flatMap(checkBans),
  },
  { name: 'no loose type and no test that runs alone', check: inAll(checkLoose) },
  { name: 'no forgotten mark in a comment', check: inAll(checkMarks) },
]
