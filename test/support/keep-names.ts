/**
 * A process that reads bodies, and keeps a part of each: the name of a container, an expression, or
 * a mask. Prints by how many bytes its heap grew:
 * `keep-names.ts <what>`.
 * @module
 */
import type { KeyScope } from '../../src/crypto/keyring.ts'
import { compileTemplate } from '../../src/language/expression/compile.ts'
import { parseJson } from '../../src/lib/json/parse-json.ts'
import type { Json } from '../../src/lib/json/json.ts'
import { tokenTerms } from '../../src/tokens/token-record.ts'
import { maskData } from '../../src/tokens/read/view.ts'

const key = new Uint8Array(32)
const scope: KeyScope = {
  name: 'tenant',
  indexKey: key,
  fingerprintKey: key,
  cursorKey: key,
  currentKeyNumber: 1,
  recordKey: () => key,
}
const keys = {
  installation: scope,
  logKey: key,
  auditKey: key,
  auditIndexKey: key,
  eventSeed: key,
  sumKeys: undefined,
  keepsSum: 'everywhere' as const,
  tenant: () => scope,
  adopt: () => () => {},
  wipe: () => {},
}
const terms = tokenTerms(keys, 'tenant')

const uses: Readonly<Record<string, (name: string) => unknown>> = {
  container: name => terms.container(name),
  expression: name => compileTemplate(name, 'id', 'id'),
  mask: name => maskData(name, null, undefined),
}

const bodies = 1_000
const use = uses[process.argv[2] ?? '']
if (use === undefined) throw new Error('usage: keep-names.ts container | expression | mask')

function readBodies(): void {
  for (let number = 0; number < bodies; number += 1) {
    // Valid JSON too, without characters that JSON escapes.
    const name = `[${String(number).padStart(20, ' ')}]`
    const text = JSON.stringify({ name, data: 'd'.repeat(3_900) })
    const body = parseJson(new TextDecoder().decode(Buffer.from(text))) as Map<string, Json>
    use?.(String(body.get('name')))
  }
}

Bun.gc(true)
const before = process.memoryUsage().heapUsed
readBodies()
for (let tries = 0; tries < 5; tries += 1) {
  await Bun.sleep(10)
  Bun.gc(true)
}
console.info(process.memoryUsage().heapUsed - before)
