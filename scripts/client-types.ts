/**
 * Writes `src/client/interface.ts` anew: `bun scripts/client-types.ts`.
 *
 * The types of the client are those of the OpenAPI document, which is made of the schemas that
 * check requests.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { printInterface } from './client-types/print.ts'

const file = join(resolve(import.meta.dir, '..'), 'src', 'client', 'interface.ts')
writeFileSync(file, await printInterface())
console.log('src/client/interface.ts')
