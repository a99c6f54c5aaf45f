/**
 * Writes `docs/client-reference.md` anew: `bun scripts/client-docs.ts`.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { printReference } from './client-types/reference.ts'

const file = join(resolve(import.meta.dir, '..'), 'docs', 'client-reference.md')
writeFileSync(file, printReference())
console.log('docs/client-reference.md')
