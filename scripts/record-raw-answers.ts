/**
 * Writes down how raw requests are answered now: `bun scripts/record-raw-answers.ts`.
 *
 * `test/gate/raw-answers.test.ts` compares with it. A difference is to be wanted, and named in the
 * message of the commit that brings it.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { askAll, openRawWire } from '../test/support/raw-requests.ts'

const file = resolve(import.meta.dir, '..', 'test', 'gate', 'raw-answers.json')
const wire = await openRawWire()
const answers = await askAll(wire)
await wire.close()
writeFileSync(file, `${JSON.stringify(answers, undefined, 2)}\n`)
console.log(`${Object.keys(answers).length} answers`)
