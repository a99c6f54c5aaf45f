import { expect, test } from 'bun:test'
import { join } from 'node:path'

const script = join(import.meta.dir, '../../support/keep-names.ts')
const bodies = 1_000
const bodyBytes = 3_900

test.each(['container', 'expression', 'mask'])(
  'a kept part of a body keeps no body alive: %s',
  what => {
    const run = Bun.spawnSync([process.execPath, script, what])
    expect(run.stderr.toString()).toBe('')
    const grownBytes = Number(run.stdout.toString())
    expect(grownBytes).toBeLessThan((bodies * bodyBytes) / 2)
  },
)
