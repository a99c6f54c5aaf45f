/**
 * Writes `docs/cli.md` anew: `bun scripts/cli-docs.ts`.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { printPage, readCommands } from './cli-docs/page.ts'

const root = resolve(import.meta.dir, '..')

async function askHelp(words: readonly string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, 'src/main.ts', ...words, '--help'], {
    cwd: root,
    env: { PATH: process.env['PATH'] },
    stdin: 'ignore',
    stderr: 'inherit',
  })
  const text = await child.stdout.text()
  if ((await child.exited) !== 0) throw new Error(`no help of: ${words.join(' ')}`)
  return text
}

const commands = await readCommands(askHelp)
writeFileSync(join(root, 'docs', 'cli.md'), printPage(commands))
console.log(`docs/cli.md: ${commands.length} commands`)
