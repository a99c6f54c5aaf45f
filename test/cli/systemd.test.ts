/**
 * `coffer systemd print`: the unit that it prints, and what systemd itself says of it.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cofferCommand, runCoffer } from '../support/coffer-process.ts'
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
    expect(lines).toContain('LoadCredential=coffer.master-key:/etc/vault.key')
    const command = '/opt/coffer serve --data /srv/vault --master-key-credential coffer.master-key'
    expect(lines).toContain(`ExecStart=${command} --port 4444`)
    expect(lines).toContain('ReadWritePaths=/srv/vault')
    expect(lines).toContain('User=coffer')
  })

  test('refuses what it would not put into the unit', async () => {
    const { exitCode, stdout, stderr } = await print('--store', 'postgresql://db/vault')
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain("unknown option '--store'")
  })

  test('runs the binary that prints it', async () => {
    const [binary, ...source] = cofferCommand
    const expected = source.length === 0 ? binary : '/usr/local/bin/coffer'
    expect((await print()).stdout).toContain(`\nExecStart=${expected} serve `)
  })

  test('has the key from a credential that is encrypted where that is asked for', async () => {
    const { stdout } = await print('--master-key-credential', 'vault.key')
    expect(stdout).toContain('\nLoadCredentialEncrypted=vault.key\n')
    expect(stdout).toContain(' --master-key-credential vault.key --port 3333\n')
    expect(stdout).not.toContain('/etc/coffer/master.key')
  })

  test('tells systemd that it is ready and well, and is started as often as it takes', async () => {
    const lines = (await print()).stdout.split('\n')
    for (const line of [
      'Type=notify',
      'WatchdogSec=60',
      'ExecReload=/bin/kill -HUP $MAINPID',
      'StartLimitIntervalSec=0',
      'EnvironmentFile=-/etc/coffer/coffer.env',
    ]) {
      expect(lines).toContain(line)
    }
    expect(lines.indexOf('StartLimitIntervalSec=0')).toBeLessThan(lines.indexOf('[Service]'))
  })

  test('has what is asked for on its command line, and may write there', async () => {
    const files = ['--tls-cert', '/etc/a.pem', '--tls-key', '/etc/a.key', '--config', '/etc/c.json']
    const places = ['--socket', '/run/coffer/s', '--backup-to', '/srv/backups']
    const words = [...places, '--ops-port', '9333']
    const { stdout, stderr } = await print(...words, '--workers', '2', ...files)
    expect(stderr).toBe('')
    const command = /^ExecStart=(.*)$/m.exec(stdout)?.[1] ?? ''
    for (const [at, word] of [...words, ...files].entries()) {
      if (at % 2 === 0) expect(command).toContain(` ${word} ${[...words, ...files][at + 1]}`)
    }
    expect(command).not.toContain('--port')
    expect(stdout).toContain('\nReadWritePaths=/var/lib/coffer /srv/backups\n')
    expect(stdout).toContain('\nRuntimeDirectory=coffer\n')
    expect(stdout).toContain('\nIPAddressDeny=any\n')
    const ofBucket = (await print('--backup-to', 's3://b.example/coffer')).stdout
    expect(ofBucket).toContain(' --backup-to s3://b.example/coffer')
    expect(ofBucket).not.toContain('IPAddressDeny')
    const place = 's3://checkpoints/coffer'
    const ofCheckpoints = (await print('--audit-checkpoints-to', place)).stdout
    expect(ofCheckpoints).toContain(` --audit-checkpoints-to ${place}`)
    expect(ofCheckpoints).not.toContain('IPAddressDeny')
    const refused = await print('--audit-checkpoints-to', '/srv/checkpoints')
    expect([refused.exitCode, refused.stdout]).toEqual([2, ''])
    expect(refused.stderr).toContain('--audit-checkpoints-to: expected an address')
  })

  test('has a socket of its own, on which a restart refuses nothing', async () => {
    const service = (await print('--activation', '--port', '4444')).stdout
    expect(service).toContain('\nRequires=coffer.socket\n')
    expect(service).toMatch(/\nExecStart=.* --drain-seconds 2\n/)
    const socket = (await print('--socket-unit', '--port', '4444')).stdout.split('\n')
    expect(socket).toContain('ListenStream=127.0.0.1:4444')
    expect(socket).toContain('WantedBy=sockets.target')
  })

  test.each([
    ['--socket', 'run', /--socket: expected an absolute path/],
    ['--tls-key', '/etc/%h', /--tls-key: expected an absolute path/],
    ['--config', '/etc/a b', /--config: expected an absolute path/],
    ['--backup-to', 'backups', /--backup-to: expected an absolute path/],
    ['--backup-to', 's3://b.example/a%h', /--backup-to: expected/],
    ['--ops-port', '99999', /--ops-port: expected an integer/],
    ['--workers', 'two', /--workers: expected an integer/],
    ['--data', 'vault', /expected an absolute path/],
    ['--data', '/srv/a b', /expected an absolute path/],
    ['--data', '/srv/%h', /expected an absolute path/],
    ['--binary', '/opt/coffer\nExecStartPre=/bin/sh', /expected an absolute path/],
    ['--master-key-file', 'key', /expected an absolute path/],
    ['--port', '3333 --host 0.0.0.0', /--port: expected an integer/],
    ['--master-key-credential', 'a b', /--master-key-credential: expected a name/],
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
      writeFileSync(unit, (await print('--binary', '/bin/true', '--activation')).stdout)
      writeFileSync(join(dirname(unit), 'coffer.socket'), (await print('--socket-unit')).stdout)
      const words = ['verify', '--man=no', '--recursive-errors=no', unit]
      const { exitCode, stdout, stderr } = Bun.spawnSync(['systemd-analyze', ...words])
      expect([exitCode, `${stdout}${stderr}`]).toEqual([0, ''])
    },
  )
})
