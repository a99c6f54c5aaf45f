/**
 * What the package says of itself.
 * @module
 */
import manifest from '../../package.json' with { type: 'json' }

const of = (file: string) => ({ types: `./types/${file.replace(/\.js$/, '.d.ts')}` })

/** Bun comes along where it can, so that `npx coffer dev` needs nothing else. */
export const manifestOf = () => ({
  name: manifest.name,
  version: manifest.version,
  description: manifest.description,
  license: manifest.license,
  type: manifest.type,
  // It defines an element.
  sideEffects: ['./element.js'],
  bin: { coffer: 'coffer.mjs' },
  exports: {
    '.': { ...of('index.js'), bun: './index.js', default: './needs-bun.js' },
    './client': { ...of('client/index.js'), default: './client.js' },
    './client/socket': { ...of('client/socket.js'), default: './socket.js' },
    './elements': { ...of('elements/host/index.js'), default: './elements.js' },
    './elements/element': { ...of('elements/element/index.js'), default: './element.js' },
    './elements/react': { ...of('elements/react/index.js'), default: './react.js' },
    './testing': { ...of('testing/index.js'), bun: './testing.js', default: './needs-bun.js' },
    './package.json': './package.json',
  },
  engines: manifest.engines,
  dependencies: manifest.dependencies,
  peerDependencies: { react: '>=18' },
  peerDependenciesMeta: { react: { optional: true } },
  optionalDependencies: { bun: manifest.devDependencies.bun },
})
