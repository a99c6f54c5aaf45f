/**
 * The script of the console: one module for browsers, bundled from `app/main.tsx`, so that the page
 * needs one request for it and its parts always have the same version.
 *
 * From source, it is bundled at the first request. A compiled binary and the npm packages embed the
 * text in place of this module (`scripts/embed-console.ts`).
 * @module
 */
import { join } from 'node:path'

interface Bundled {
  readonly text: string
  /** Paths of the files that it was made of, from the working folder. */
  readonly files: readonly string[]
}

/** @throws Error with the fault of the bundler */
export async function bundleConsole(): Promise<Bundled> {
  const { outputs, metafile } = await Bun.build({
    entrypoints: [join(import.meta.dir, 'app', 'main.tsx')],
    target: 'browser',
    minify: true,
    jsx: { runtime: 'automatic', importSource: 'preact', development: false },
    define: { 'process.env.NODE_ENV': '"production"' },
    metafile: true,
  })
  const texts = await Promise.all(outputs.map(output => output.text()))
  return { text: texts.join(''), files: Object.keys(metafile?.inputs ?? {}) }
}

let made: Promise<string> | undefined

export const consoleScript = (): Promise<string> =>
  (made ??= bundleConsole().then(({ text }) => text))
