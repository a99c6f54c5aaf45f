/**
 * Writes the pages of `docs/evidence/` anew: `bun scripts/evidence.ts`. Exits with 1 if a statement
 * has no test or a tag no statement.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { readEvidenceFiles } from './evidence/files.ts'
import { composePages, findFaults } from './evidence/tables.ts'

const root = resolve(import.meta.dir, '..')
const files = readEvidenceFiles()
const faults = findFaults(files)
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exit(1)
for (const [page, text] of composePages(files)) writeFileSync(resolve(root, page), text)
