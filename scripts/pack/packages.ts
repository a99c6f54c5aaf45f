/**
 * The npm packages: their contents, their manifests, and their size limits.
 * @module
 */
import manifest from '../../package.json' with { type: 'json' }
import { bundledPackages, type Bundle } from './bundle.ts'

export interface Package {
  readonly name: string
  readonly description: string
  /** Limit of its unpacked files: applications agreed to take in no more. */
  readonly bytesMax: number
  readonly bundles: readonly Bundle[]
  /** Paths below `src`. */
  readonly types: readonly string[]
  /** Paths below `scripts/pack`, by their names in the package. */
  readonly copies: Readonly<Record<string, string>>
  /** Further members of its package.json. */
  readonly more: object
}

const of = (file: string) => ({ types: `./types/${file.replace(/\.js$/, '.d.ts')}` })

/** For Jest, which takes no ES module from a package. */
const bothOf = (
  entry: string,
  name: string,
  target: Bundle['target'],
  more: Pick<Bundle, 'banner'> = {},
): readonly Bundle[] => [
  { entry, file: `${name}.js`, target, ...more },
  { entry, file: `${name}.cjs`, target, format: 'cjs', ...more },
]

const exportOf = (types: string, name: string) => ({
  types: `./types/${types.replace(/\.ts$/, '.d.ts')}`,
  require: `./${name}.cjs`,
  default: `./${name}.js`,
})

const esmOf = ({ types, default: file }: ReturnType<typeof exportOf>) => ({ types, default: file })

const clientBundles = [
  ...bothOf('src/client/index.ts', 'client', 'browser'),
  ...bothOf('src/client/socket.ts', 'socket', 'node'),
]
const clientExport = exportOf('client/index.ts', 'client')
const socketExport = exportOf('client/socket.ts', 'socket')
const clientTypes = ['client/index.ts', 'client/socket.ts']

const elementsBundles = [
  ...bothOf('src/elements/host/index.ts', 'elements', 'browser'),
  ...bothOf('src/elements/element/index.ts', 'element', 'browser'),
  ...bothOf('src/elements/react/index.ts', 'react', 'browser', { banner: "'use client'" }),
]
const elementsExport = exportOf('elements/host/index.ts', 'elements')
const elementExport = exportOf('elements/element/index.ts', 'element')
const reactExport = exportOf('elements/react/index.ts', 'react')
const elementsTypes = [
  'elements/host/index.ts',
  'elements/element/index.ts',
  'elements/react/index.ts',
]
const ofElements = {
  // They define an element.
  sideEffects: ['./element.js', './element.cjs'],
  peerDependencies: { react: '>=18' },
  peerDependenciesMeta: { react: { optional: true } },
}

const ownManifest = './package.json'

const client: Package = {
  name: '@coffer/client',
  description: 'The typed client of a tokenization vault, for every JavaScript platform.',
  bytesMax: 92_000,
  // As ES modules only: a second copy of the program would be too large.
  bundles: clientBundles.filter(({ format }) => format !== 'cjs'),
  types: clientTypes,
  copies: { 'README.md': 'client.md' },
  more: {
    exports: {
      '.': esmOf(clientExport),
      './socket': esmOf(socketExport),
      './package.json': ownManifest,
    },
    engines: { node: manifest.engines.node },
  },
}

const elements: Package = {
  name: '@coffer/elements',
  description: 'Card fields for the page of a shop, in a frame of a tokenization vault.',
  bytesMax: 60_000,
  bundles: elementsBundles,
  types: elementsTypes,
  copies: { 'README.md': 'elements.md' },
  more: {
    exports: {
      '.': elementsExport,
      './element': elementExport,
      './react': reactExport,
      './package.json': ownManifest,
    },
    ...ofElements,
  },
}

const isBundled = (name: string): boolean => bundledPackages.some(bundled => bundled === name)

/** Installed by a package manager, which runs no script of any of them. */
export const dependencies = Object.fromEntries(
  Object.entries(manifest.dependencies).filter(([name]) => !isBundled(name)),
)

const systems = [
  { lmdb: 'linux-x64', bun: 'linux-x64' },
  { lmdb: 'linux-arm64', bun: 'linux-aarch64' },
  { lmdb: 'darwin-x64', bun: 'darwin-x64' },
  { lmdb: 'darwin-arm64', bun: 'darwin-aarch64' },
]

/** Package managers leave out those for other systems. */
const optionalDependencies = Object.fromEntries(
  systems.flatMap(({ lmdb, bun }) => [
    [`@lmdb/lmdb-${lmdb}`, manifest.dependencies.lmdb],
    [`@oven/bun-${bun}`, manifest.devDependencies.bun],
  ]),
)

const needsBun = './needs-bun.js'

const coffer: Package = {
  name: manifest.name,
  description: manifest.description,
  bytesMax: 7_400_000,
  bundles: [
    ...clientBundles,
    ...elementsBundles,
    { entry: 'src/index.ts', file: 'index.js', target: 'bun' },
    { entry: 'src/main.ts', file: 'main.js', target: 'bun' },
    { entry: 'src/testing/index.ts', file: 'testing.js', target: 'bun' },
    ...bothOf('scripts/pack/testing.ts', 'testing-node', 'node'),
  ],
  types: ['index.ts', 'testing/index.ts', ...clientTypes, ...elementsTypes],
  copies: {
    'README.md': 'README.md',
    'coffer.mjs': 'coffer.mjs',
    'needs-bun.js': 'needs-bun.js',
    'program.cjs': 'program.cjs',
  },
  more: {
    bin: { coffer: 'coffer.mjs' },
    exports: {
      '.': { ...of('index.js'), bun: './index.js', default: needsBun },
      './client': clientExport,
      './client/socket': socketExport,
      './elements': elementsExport,
      './elements/element': elementExport,
      './elements/react': reactExport,
      './testing': {
        ...of('testing/index.js'),
        bun: './testing.js',
        require: './testing-node.cjs',
        default: './testing-node.js',
      },
      './package.json': ownManifest,
    },
    engines: manifest.engines,
    ...ofElements,
    dependencies,
    optionalDependencies,
  },
}

export const packages: readonly Package[] = [client, elements, coffer]

export const manifestOf = ({ name, description, more }: Package) => ({
  name,
  version: manifest.version,
  description,
  license: manifest.license,
  type: manifest.type,
  sideEffects: false,
  ...more,
})

/** As `npm pack` names it. */
export const archiveOf = (name: string): string =>
  `${name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`

const kilobytes = (bytes: number): string => `${Math.ceil(bytes / 1_000)} KB`

/** Describes a package to its maker. @param bytes of the archive, and of the files in it */
export const tellPackage = (
  { name, description }: Pick<Package, 'name' | 'description'>,
  { packed, unpacked }: Readonly<Record<'packed' | 'unpacked', number>>,
): string => `
${name}: ${description}
  ${kilobytes(packed)}, unpacked ${kilobytes(unpacked)}
  npm install ./dist/${archiveOf(name)}`
