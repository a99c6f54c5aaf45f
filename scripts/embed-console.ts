/**
 * Bundler plugin: embeds the script of the console, since a bundle has no sources to make it from.
 * @module
 */
import type { BunPlugin } from 'bun'
import { bundleConsole } from '../src/console/script.ts'

/**
 * Bundled beforehand: a bundle cannot be made within another.
 * @param used is given the files of the script, from the working folder, once a bundle takes it
 */
export async function embedConsole(used: Set<string>): Promise<BunPlugin> {
  const { text, files } = await bundleConsole()
  const contents = `export const consoleScript = async () => ${JSON.stringify(text)}`
  return {
    name: 'embed-console',
    setup(build) {
      const filter = /\/src\/console\/script\.ts$/
      build.onLoad({ filter }, () => {
        for (const file of files) used.add(file)
        return { contents, loader: 'js' }
      })
    },
  }
}
