/**
 * Records the current answers to raw requests: `bun scripts/record-raw-answers.ts`.
 *
 * `test/gate/raw-answers.test.ts` compares with them. A difference must be intended, and named in
 * the message of its commit.
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
