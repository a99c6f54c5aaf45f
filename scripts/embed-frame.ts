/**
 * Bundler plugin: embeds the script of the card fields' frame, since a bundle has no sources to
 * make it from.
 * @module
 */
import type { BunPlugin } from 'bun'
import { frameScript } from '../src/elements/script.ts'

/** Bundled beforehand: a bundle cannot be made within another. */
export async function embedFrame(): Promise<BunPlugin> {
  const text = JSON.stringify(await frameScript())
  const contents = `export const frameScript = async () => ${text}`
  return {
    name: 'embed-frame',
    setup(build) {
      const filter = /\/src\/elements\/script\.ts$/
      build.onLoad({ filter }, () => ({ contents, loader: 'js' }))
    },
  }
}
