/**
 * `coffer systemd print`: the unit that it prints, and what systemd itself says of it.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const print = (...args: string[]) => runCoffer(['systemd', 'print', ...args])

describe('coffer systemd print', () => {
  test('serves the folder with a key that only systemd reads', async () => {
    const words = ['--data', '/srv/vault', '--port', '4444', '--binary', '/opt/coffer']
    const { exitCode, stdout, stderr } = await print(
      ...words,
      '--master-key-file',
      '/etc/vault.key',
    )
    expect([exitCode, stderr]).toEqual([0, ''])
    const lines = stdout.split('\n')
    expect(lines).toContain('LoadCredential=master.key:/etc/vault.key')
    const command = '/opt/coffer serve --data /srv/vault --master-key-file %d/master.key'
    expect(lines).toContain(`ExecStart=${command} --port 4444`)
    expect(lines).toContain('ReadWritePaths=/srv/vault')
    expect(lines).toContain('User=coffer')
  })

  test.each([
    ['--data', 'vault', /expected absolute paths/],
    ['--data', '/srv/a b', /expected absolute paths/],
    ['--data', '/srv/%h', /expected absolute paths/],
    ['--binary', '/opt/coffer\nExecStartPre=/bin/sh', /expected absolute paths/],
    ['--master-key-file', 'key', /expected absolute paths/],
    ['--port', '3333 --host 0.0.0.0', /--port: expected an integer/],
  ])('refuses %s %j', async (flag, value, says) => {
    const { exitCode, stdout, stderr } = await print(flag, value)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(says)
    expect(stderr).toMatch(/^coffer: [^\n]+; see --help\n$/)
  })

  // `scripts/install-packaging-tools` takes it from Debian's package systemd.
  test.skipIf(Bun.which('systemd-analyze') === null)('is exposed by 2.0 at most', async () => {
    const unit = join(temporaryFolder(), 'coffer.service')
    writeFileSync(unit, (await print()).stdout)
    const words = ['security', '--offline=true', '--threshold=20', '--no-pager', unit]
    const ended = Bun.spawnSync(['systemd-analyze', ...words])
    expect(ended.stdout.toString()).toMatch(/Overall exposure level for coffer\.service: [01]\.\d/)
    expect(ended.exitCode).toBe(0)
  })

  test.skipIf(Bun.which('systemd-analyze') === null)(
    'has no line that systemd ignores',
    async () => {
      const unit = join(temporaryFolder(), 'coffer.service')
      // It looks whether the program is there.
      writeFileSync(unit, (await print('--binary', '/bin/true')).stdout)
      const words = ['verify', '--man=no', '--recursive-errors=no', unit]
      const { exitCode, stdout, stderr } = Bun.spawnSync(['systemd-analyze', ...words])
      expect([exitCode, `${stdout}${stderr}`]).toEqual([0, ''])
    },
  )
})
