/**
 * The set-up of a fresh clone, in full: it does what a developer reads of it.
 * @module
 */
import { expect, test } from 'bun:test'
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/folders.ts'
import { installMsMax, root, runBy } from './install.ts'

test(
  'a fresh clone is set up without a warning about scripts of packages',
  async () => {
    const folder = temporaryFolder()
    for (const name of ['package.json', 'bun.lock', 'bunfig.toml', 'scripts/setup']) {
      cpSync(join(root, name), join(folder, name))
    }
    const { exitCode, stdout, stderr } = await runBy(folder, ['sh', 'scripts/setup'])
    expect([exitCode, stdout]).toEqual([0, ''])
    expect(stderr).toContain('setup: installing the locked packages')
    expect(stderr).not.toMatch(/block|postinstall|warn/i)
    expect(existsSync(join(folder, 'node_modules/.bin/tsc'))).toBe(true)
  },
  installMsMax,
)
