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
  sideEffects: false,
  bin: { coffer: 'coffer.mjs' },
  exports: {
    '.': { ...of('index.js'), bun: './index.js', default: './needs-bun.js' },
    './client': { ...of('client/index.js'), default: './client.js' },
    './client/socket': { ...of('client/socket.js'), default: './socket.js' },
    './elements': { ...of('elements/host/index.js'), default: './elements.js' },
    './testing': { ...of('testing/index.js'), bun: './testing.js', default: './needs-bun.js' },
    './package.json': './package.json',
  },
  engines: manifest.engines,
  dependencies: manifest.dependencies,
  optionalDependencies: { bun: manifest.devDependencies.bun },
})
