/**
 * Allowed imports: main → cli → server → app → features → http → deps → core → leaves, never
 * upward, never sideways between features, never in a ring; and the home of each package.
 *
 * Source: docs/decisions.md, "Code layout".
 * @module
 */
import { isBelow, type Project, type Rule, type Source } from './project.ts'

interface Layer {
  readonly name: string
  readonly paths: readonly string[]
  /** Names of the layers, or paths, that it may import beside itself. */
  readonly imports: readonly string[]
}

/** Pure: knowledge of values, texts and rights. */
const domainFolders = ['src/rules', 'src/language', 'src/lib/json']

const core = ['audit', 'records', 'store', 'crypto', 'settings', 'domain', 'leaves']

const layers: readonly Layer[] = [
  {
    name: 'main',
    paths: ['src/main.ts', 'src/index.ts', 'src/embed.ts', 'src/testing'],
    imports: ['cli', 'client', 'server', 'app', 'features', 'deps', ...core, 'version'],
  },
  {
    name: 'cli',
    paths: ['src/cli'],
    imports: ['server', 'client', 'app', 'features', 'deps', ...core, 'version'],
  },
  {
    name: 'server',
    paths: ['src/server'],
    imports: ['app', 'http', 'features', 'egress', 'deps', ...core, 'version'],
  },
  {
    name: 'app',
    paths: ['src/coffer.ts', 'src/vault', 'src/http/documentation'],
    imports: ['http', 'features', 'egress', 'deps', ...core, 'version'],
  },
  // Bundled for browsers: it shares only printed shapes with the server.
  { name: 'client', paths: ['src/client'], imports: [] },
  {
    name: 'elements in browsers',
    paths: [
      'src/elements/frame',
      'src/elements/host',
      'src/elements/react',
      'src/elements/element',
      'src/elements/dom.ts',
      'src/elements/limits.ts',
      'src/elements/protocol.ts',
    ],
    imports: [],
  },
  // Bundled for browsers: it knows the server by its interface alone.
  { name: 'console in browsers', paths: ['src/console/app'], imports: ['client'] },
  { name: 'http', paths: ['src/http'], imports: ['deps', ...core] },
  // Requests of the vault to others, whatever they carry.
  { name: 'egress', paths: ['src/egress'], imports: ['leaves'] },
  // deps.ts holds only types of what a service is given, so it is below the features.
  { name: 'deps', paths: ['src/deps.ts'], imports: core },
  {
    name: 'records',
    paths: ['src/records'],
    imports: ['crypto', 'src/store/contract.ts', 'src/store/core/row.ts', 'leaves'],
  },
  {
    name: 'audit',
    paths: ['src/audit'],
    imports: ['crypto', 'src/store/contract.ts', 'domain', 'leaves'],
  },
  { name: 'version', paths: ['src/lib/version.ts'], imports: ['package.json'] },
  { name: 'store', paths: ['src/store'], imports: ['leaves'] },
  { name: 'crypto', paths: ['src/crypto'], imports: ['leaves'] },
  { name: 'settings', paths: ['src/settings'], imports: ['domain', 'leaves'] },
  { name: 'domain', paths: domainFolders, imports: ['leaves'] },
  { name: 'leaves', paths: ['src/lib', 'src/limits'], imports: [] },
]

/** Every other folder of src is a feature. A feature knows only the contract of the store. */
const featureImports = [
  'deps',
  'audit',
  'egress',
  'records',
  'src/store/contract.ts',
  'crypto',
  'settings',
  'domain',
  'leaves',
]

function layerOf(path: string): Layer | undefined {
  const known = layers.find(layer => isBelow(path, layer.paths))
  if (known !== undefined) return known
  const [, feature, file] = path.split('/')
  if (feature === undefined || file === undefined) return undefined
  const paths = [`src/${feature}`]
  // Routes and filters may use HTTP; the rest of a feature may not.
  const transport = /(?:^|\/|-)(?:routes|filters)\.ts$/.test(path) ? ['src/http'] : []
  return { name: 'features', paths, imports: [...featureImports, ...transport] }
}

function mayImport(from: Layer, path: string): boolean {
  if (isBelow(path, from.paths) || isBelow(path, from.imports)) return true
  const to = layerOf(path)
  return to !== undefined && from.imports.includes(to.name)
}

function checkLayers(source: Source): string[] {
  const from = layerOf(source.path)
  if (from === undefined) return [`${source.path}: belongs to no layer`]
  return source.imports
    .filter(({ path }) => path !== undefined && !mayImport(from, path))
    .map(({ path }) => `${source.path}: ${from.name} may not import ${path}`)
}

/** Entry points: the binary, and the modules that applications import. */
const entries = [
  'src/main.ts',
  'src/index.ts',
  'src/client/index.ts',
  'src/client/socket.ts',
  'src/testing/index.ts',
  'src/testing/child.ts',
  'src/elements/frame/main.ts',
  'src/console/app/main.tsx',
  'src/elements/host/index.ts',
  'src/elements/react/index.ts',
  'src/elements/element/index.ts',
]

interface Home {
  readonly packages: RegExp
  readonly paths: readonly string[]
  /** Further files beside those. */
  readonly files?: RegExp
  readonly except?: RegExp
}

const routeFiles = /^src\/[a-z]+\/(?:.+-)?routes\.ts$/

const homes: readonly Home[] = [
  { packages: /^lmdb$/, paths: ['src/store/lmdb'] },
  { packages: /^(?:sodium-native|@noble\/.*|shamir-secret-sharing)$/, paths: ['src/crypto'] },
  // Routes are plugins of the framework; the rest of a feature does not use it.
  {
    packages: /^elysia$/,
    paths: ['src/server/listen/app.ts', 'src/coffer.ts', 'src/http'],
    files: routeFiles,
  },
  { packages: /^@elysiajs\/.*$/, paths: ['src/http/documentation'] },
  { packages: /^swagger-ui-dist$/, paths: ['src/http/documentation'] },
  {
    packages: /^prom-client$/,
    paths: [
      'src/server/watch/metrics.ts',
      'src/server/watch/metric-kinds.ts',
      'src/server/watch/database-metrics.ts',
    ],
  },
  { packages: /^react$/, paths: ['src/elements/react'] },
  { packages: /^(?:preact|@preact\/signals)$/, paths: ['src/console/app'] },
  { packages: /^commander$/, paths: ['src/main.ts', 'src/cli'] },
  { packages: /^age-encryption$/, paths: ['src/cli/bulk'] },
  {
    packages: /^(?:node|bun)(?::.*)?$/,
    paths: ['src'],
    except:
      /^src\/(?:client\/(?!socket\.ts$)|console\/app\/|elements\/(?:frame|host|react|element)\/)/,
  },
  { packages: /^@sinclair\/typebox$/, paths: ['src'] },
]

/**
 * Imports that the domain may use: pure functions that hash (its `hmac` filter), and that know
 * people's numbers and addresses.
 */
const pureImports = /^(?:node:crypto|libphonenumber-js\/min|validator\/es\/lib\/\w+\.js)$/

/** `@noble/hashes/sha2.js` belongs to the package `@noble/hashes`. */
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

function checkPackages(source: Source): string[] {
  return source.imports
    .filter(({ path }) => path === undefined)
    .map(({ specifier }) => specifier)
    .filter(specifier => {
      if (isBelow(source.path, domainFolders)) return !pureImports.test(specifier)
      const home = homes.find(({ packages }) => packages.test(packageOf(specifier)))
      if (home === undefined || home.except?.test(source.path) === true) return true
      return !isBelow(source.path, home.paths) && home.files?.test(source.path) !== true
    })
    .map(specifier => `${source.path}: may not import the package ${specifier}`)
}

const importsOf = (project: Project): ReadonlyMap<string, readonly string[]> =>
  new Map(project.sources.map(({ path, imports }) => [path, imports.flatMap(to => to.path ?? [])]))

/** Returns the first ring found from each file that closes one, as `a → b → a`. */
function findRings(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const rings: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path)
    if (start >= 0) rings.push([...trail.slice(start), path].join(' → '))
    if (start >= 0 || done.has(path)) return
    for (const to of graph.get(path) ?? []) visit(to, [...trail, path])
    done.add(path)
  }
  for (const path of graph.keys()) visit(path, [])
  return rings
}

function findDead(project: Project): string[] {
  const graph = importsOf(project)
  const roots = graph.has('src/main.ts')
    ? entries.filter(path => graph.has(path))
    : [...graph.keys()].filter(path => path.endsWith('.test.ts'))
  const alive = new Set<string>()
  const visit = (path: string): void => {
    if (alive.has(path)) return
    alive.add(path)
    graph.get(path)?.forEach(visit)
  }
  roots.forEach(visit)
  const isModule = (path: string): boolean => path.startsWith('src/') && !path.endsWith('.d.ts')
  return [...graph.keys()].filter(path => isModule(path) && !alive.has(path))
}

const inSource = (check: (source: Source) => readonly string[]): Rule['check'] => {
  return ({ sources }) => sources.filter(({ path }) => path.startsWith('src/')).flatMap(check)
}

export const layerRules: readonly Rule[] = [
  { name: 'imports go down the layers', check: inSource(checkLayers) },
  { name: 'packages are imported in their home only', check: inSource(checkPackages) },
  { name: 'no ring of imports', check: project => findRings(importsOf(project)) },
  {
    name: 'no dead source file',
    check: project => findDead(project).map(path => `${path}: nothing that runs imports it`),
  },
]
