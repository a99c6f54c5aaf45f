/**
 * Builds `dist/coffer` for this machine (`binary.ts`), then smoke-tests it.
 * @module
 */
import { join, resolve } from 'node:path'
import { makeBinary } from './binary.ts'
import { smokeRun } from './smoke.ts'

const root = resolve(import.meta.dir, '..')
const outfile = join(root, 'dist', 'coffer')
const { platform, arch } = process

try {
  await makeBinary({
    root,
    modules: join(root, 'node_modules'),
    target: { platform, arch },
    outfile,
  })
} catch (error) {
  console.error(`build: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
}
console.log(`build: dist/coffer, ${Math.round(Bun.file(outfile).size / 1e6)} MB`)
process.exit((await smokeRun(outfile, root)) ? 0 : 1)
