/**
 * A command says all of its lines to a reader that is slower than itself.
 * @module
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'

const lines = 3_000
const speaker = join(import.meta.dir, '../support/say-much.ts')

test.each([
  ['one pipe with stderr', '"$0" "$1" "$2" 2>&1 | { sleep 0.3; cat; }'],
  ['a pipe of its own', '"$0" "$1" "$2" | { sleep 0.3; cat; }'],
])('is whole where stdout is %s', async (_, script) => {
  const words = ['bash', '-o', 'pipefail', '-c', script, process.execPath, speaker, String(lines)]
  const child = Bun.spawn(words, { stdout: 'pipe', stderr: 'pipe' })
  const said = await new Response(child.stdout).text()
  expect(await child.exited).toBe(0)
  const numbers = said
    .trimEnd()
    .split('\n')
    .map(line => line.split(' ')[0])
  expect(numbers).toEqual(Array.from({ length: lines }, (__, at) => String(at)))
})
