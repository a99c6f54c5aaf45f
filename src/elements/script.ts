/**
 * The script of the frame: one module for browsers, bundled from `frame/main.ts`, so that a frame
 * takes one request for it and its parts are always of one version.
 *
 * From source it is bundled when it is first asked for. A compiled binary and the packages of npm
 * have the text inside in place of this module (`scripts/embed-frame.ts`).
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
