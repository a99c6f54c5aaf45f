/**
 * Bundler plugin: puts the script of the card fields' frame into a bundle of the program, which has
 * no sources to make it of.
 * @module
 */
import type { BunPlugin } from 'bun'
import { frameScript } from '../src/elements/script.ts'

/** Made before the bundle: one cannot be made within another. */
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
