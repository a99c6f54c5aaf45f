/**
 * The script of the frame: one module for browsers, bundled from `frame/main.ts`, so that a frame
 * needs one request for it and its parts always have the same version.
 *
 * From source, it is bundled at the first request. A compiled binary and the npm packages embed the
 * text in place of this module (`scripts/embed-frame.ts`).
 * @module
 */
import { join } from 'node:path'

async function bundle(): Promise<string> {
  const entry = join(import.meta.dir, 'frame', 'main.ts')
  const { outputs } = await Bun.build({ entrypoints: [entry], target: 'browser', minify: true })
  const texts = await Promise.all(outputs.map(output => output.text()))
  return texts.join('')
}

let made: Promise<string> | undefined

export const frameScript = (): Promise<string> => (made ??= bundle())
