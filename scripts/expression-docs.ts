/**
 * Writes the tables of `docs/expressions.md` anew: `bun scripts/expression-docs.ts`.
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import examples from '../test/fixtures/expressions.json' with { type: 'json' }
import { withTables } from './expression-docs/tables.ts'

const page = resolve(import.meta.dir, '../docs/expressions.md')
writeFileSync(page, withTables(readFileSync(page, 'utf8'), examples))
