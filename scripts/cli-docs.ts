/**
 * Writes `docs/cli.md` anew: `bun scripts/cli-docs.ts`.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { printPage, readCommands } from './cli-docs/page.ts'

const commands = readCommands()
writeFileSync(resolve(import.meta.dir, '..', join('docs', 'cli.md')), printPage(commands))
console.log(`docs/cli.md: ${commands.length} commands`)
