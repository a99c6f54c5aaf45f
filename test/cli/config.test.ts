/**
 * `coffer config`, and a file that says where the vault and its key are.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer, startCoffer, type RunOptions } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { canary } from '../support/refusal.ts'

let root: string
let data: string
let key: string
beforeAll(async () => {
  root = temporaryFolder()
  data = join(root, 'data')
  key = join(root, 'master.key')
  await runCoffer(['init', '--data', data, '--master-key-file', key])
})

const fileOf = (name: string, members: object): string => {
  const path = join(root, name)
  writeFileSync(path, JSON.stringify(members, undefined, 2))
  return path
}

interface Line {
  readonly name: string
  readonly value: unknown
  readonly from: string
}

async function print(args: readonly string[], options: RunOptions = {}) {
  const { exitCode, stdout, stderr } = await runCoffer(
    ['config', 'print', '--json', ...args],
    options,
  )
  expect([exitCode, stderr]).toEqual([0, ''])
  const { settings } = JSON.parse(stdout) as { settings: readonly Line[] }
  return new Map(settings.map(line => [line.name, line]))
}

describe('coffer config print', () => {
  test('tells of each setting its value and where it comes from', async () => {
    const members = { data, port: 4444, base_path: '/file/', cors_origins: ['https://a.example'] }
    const file = fileOf('printed.json', members)
    const env = { COFFER_CONFIG: file, COFFER_PORT: '5555', COFFER_MASTER_KEY_FILE: key }
    const lines = await print(['--workers', '2'], { env })
    const of = (name: string) => [lines.get(name)?.value, lines.get(name)?.from]
    expect(of('data')).toEqual([data, `${file}:2`])
    expect(of('master_key_file')).toEqual([key, 'COFFER_MASTER_KEY_FILE'])
    expect(of('port')).toEqual([5555, 'COFFER_PORT'])
    expect(of('workers')).toEqual([2, '--workers'])
    expect(of('base_path')).toEqual(['/file', `${file}:4`])
    expect(of('cors_origins')).toEqual([['https://a.example'], `${file}:5`])
    expect(of('mask_guard')).toEqual([true, 'default'])
    expect(of('tls_cert')).toEqual([null, 'default'])
  })

  test('tells the default of a setting that holds once another one is set', async () => {
    const valuesOf = async (flags: readonly string[]) => {
      const lines = await print(flags)
      const names = ['backup_every', 'backup_keep', 'socket_mode']
      return names.map(name => [lines.get(name)?.value, lines.get(name)?.from])
    }
    const unset = [null, 'default']
    expect(await valuesOf([])).toEqual([unset, unset, unset])
    const flags = ['--backup-to', root, '--backup-keep', '3', '--socket', join(root, 'socket')]
    expect(await valuesOf(flags)).toEqual([
      ['6h', 'default'],
      [3, '--backup-keep'],
      ['600', 'default'],
    ])
  })

  test('has a table for people', async () => {
    const { stdout } = await runCoffer(['config', 'print', '--data', data, '--port', '1'])
    const lines = stdout.split('\n').map(line => line.split(/ {2,}/))
    expect(lines[0]).toEqual(['setting', 'value', 'from'])
    expect(lines).toContainEqual(['data', data, '--data'])
    expect(lines).toContainEqual(['port', '1', '--port'])
    expect(lines).toContainEqual(['host', '127.0.0.1', 'default'])
    expect(lines).toContainEqual(['socket', '-', 'default'])
  })

  test('shows no secret', async () => {
    const secrets = {
      COFFER_MASTER_KEY: 'ab'.repeat(32),
      COFFER_STORE: `postgres://user:${canary}@127.0.0.1/vault`,
      COFFER_KEY: canary,
    }
    for (const flags of [[], ['--json']]) {
      const { stdout, stderr } = await runCoffer(['config', 'print', ...flags], { env: secrets })
      expect(stderr).toBe('')
      expect(stdout).toMatch(/master_key\W.*\(not shown\)\W.*COFFER_MASTER_KEY/)
      expect(stdout).toMatch(/store\W.*\(not shown\)\W.*COFFER_STORE/)
      expect(stdout).not.toContain(canary)
      expect(stdout).not.toContain('abab')
    }
  })

  test('tells of no key that is nearer than the one of the file', async () => {
    const file = fileOf('key.json', { master_key_credential: 'of.unit' })
    expect((await print(['--config', file])).get('master_key_credential')?.value).toBe('of.unit')
    const lines = await print(['--config', file, '--master-key-file', key])
    expect(lines.has('master_key_credential')).toBe(false)
  })
})

describe('coffer config check', () => {
  test('takes what can be taken, and touches nothing', async () => {
    const file = fileOf('good.json', { data: join(root, 'none'), port: 1 })
    const ended = await runCoffer(['config', 'check', '--config', file])
    expect(ended).toEqual({ exitCode: 0, stdout: 'The settings can be taken.\n', stderr: '' })
  })

  test.each([
    [{ workers: 2, mask_guard: canary }, [], ':3: mask_guard: expected true or false'],
    [{ mask_gaurd: canary }, [], ':2: mask_gaurd is no setting'],
    [{ tls_cert: 'a' }, [], ':2: tls_cert: expected --tls-cert and --tls-key'],
    [
      { master_key_file: 'a', master_key_credential: 'b' },
      [],
      'choose one of --master-key-file and --master-key-credential',
    ],
    ...[
      'data',
      'master_key_file',
      'master_key_credential',
      'store_password_file',
      'socket',
      'tls_cert',
      'tls_key',
      'tls_client_ca',
      'erasure_log',
    ].map(name => [{ [name]: '/x\0y' }, [], `:2: ${name}: expected a path without NUL`] as const),
    [{ backup_to: '/x\0y' }, [], ':2: backup_to: expected a folder, or an address'],
    [{ store: 'postgres://a@b/c\0d' }, [], ':2: store: expected an address'],
    [{ host: 'a\0b' }, [], ':2: host: expected a host name'],
    [{}, ['--workers', '2', '--passphrase'], '--workers: each worker reads the master key'],
  ])('refuses %j %j with what is wrong', async (members, flags, says) => {
    const file = fileOf('bad.json', members)
    const { exitCode, stdout, stderr } = await runCoffer([
      'config',
      'check',
      '--config',
      file,
      ...flags,
    ])
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^coffer: [^\n]+; see --help\n$/)
    expect(stderr).toContain(says)
    expect(stderr).not.toContain(canary)
    const printed = await runCoffer(['config', 'print', '--config', file, ...flags])
    expect(printed).toEqual({ exitCode, stdout, stderr })
  })
})

describe('coffer serve and doctor', () => {
  test('take folder and key from the file', async () => {
    const file = fileOf('served.json', { data, master_key_file: key, port: 0 })
    const server = await startCoffer(['serve', '--config', file])
    expect(server.ready).toContain('Coffer listens on')
    expect(await server.end('SIGTERM')).toBe(0)
    const { exitCode, stdout } = await runCoffer(['doctor', '--config', file])
    expect([exitCode, stdout]).not.toContain('there is no data folder')
    expect(exitCode).toBe(0)
  })

  test('start workers, which take them as well', async () => {
    const file = fileOf('workers.json', { data, master_key_file: key, port: 0, workers: 2 })
    const server = await startCoffer(['serve', '--config', file])
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('take the folder of a flag in place of that of the file', async () => {
    const file = fileOf('other.json', { data: join(root, 'none'), master_key_file: key, port: 0 })
    const server = await startCoffer(['serve', '--config', file, '--data', data])
    expect(await server.end('SIGTERM')).toBe(0)
    const { exitCode, stderr } = await runCoffer(['serve', '--config', file])
    expect(exitCode).toBe(1)
    expect(stderr).toContain(join(root, 'none'))
  })
})
