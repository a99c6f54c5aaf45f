/**
 * Names that an operator hands to a command and that lead to no regular file: none is waited for,
 * and none is read without an end. The pipe of another command is read.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cofferCommand, runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

let root: string
/** A data folder that tests copy and never change. */
let made: string
let count = 0

const fresh = (name: string): string => join(root, `${name}-${(count += 1)}`)

function run(...words: string[]): void {
  expect([words[0], Bun.spawnSync(words).exitCode]).toEqual([words[0], 0])
}

beforeAll(async () => {
  root = temporaryFolder()
  made = join(root, 'made')
  await runCoffer(['init', '--data', made])
})

function copyOfVault(): string {
  const data = fresh('vault')
  cpSync(made, data, { recursive: true })
  return data
}

function pipe(): string {
  const path = fresh('pipe')
  run('mkfifo', path)
  return path
}

/** Bounds a command: one that waits, or reads without an end, is ended with 124. */
const limited = (args: readonly string[]): Promise<Ended> =>
  runCoffer(args, {
    prefix: ['timeout', '--foreground', '60'],
    env: { COFFER_ADDR: 'http://127.0.0.1:1' },
  })

const database = 'postgres://u@127.0.0.1:1/d'
const verified = (file: string) => `${database}?sslmode=verify-full&sslrootcert=${file}`
const empty = () => fresh('folder')
const keyOfMade = () => ['--master-key-file', join(made, 'master.key')]

/** By the name of the file: the command, and whether a pipe may bring it. */
const handed: readonly [string, boolean, (file: string) => readonly string[]][] = [
  ['--config', true, file => ['serve', '--data', made, '--port', '0', '--config', file]],
  [
    '--rules',
    true,
    file => ['app', 'create', '--data', made, '--type', 'private', '--rules', file],
  ],
  ['--key-file', true, file => ['permissions', '--key-file', file]],
  ['--tls-cert', false, file => ['serve', '--data', made, '--tls-cert', file, '--tls-key', file]],
  ['the master key', false, file => ['serve', '--data', made, '--master-key-file', file]],
  [
    '--store-password-file',
    false,
    file => ['init', '--data', empty(), '--store', database, '--store-password-file', file],
  ],
  ['sslrootcert', false, file => ['init', '--data', empty(), '--store', verified(file)]],
  ['backup', false, file => ['restore', file, '--keep-keys', '--data', empty(), ...keyOfMade()]],
]

function expectLine(name: string, { exitCode, stdout, stderr }: Ended): void {
  expect([name, exitCode === 1 || exitCode === 2, stdout]).toEqual([name, true, ''])
  expect(stderr).toMatch(/^(?:reading: 100 %\n)?coffer: [^\n]+\n$/)
}

describe.each(handed)('the file handed over as %s', (name, isPiped, wordsOf) => {
  // proves E26.5
  test('is no pipe that nobody writes to', async () => {
    const ended = await limited(wordsOf(pipe()))
    expectLine(name, ended)
    expect(ended.stderr).toMatch(
      isPiped ? /nothing comes through it: see the command that writes/ : /file/,
    )
  })

  // proves E26.5
  test('is no device, which has no end, and no folder', async () => {
    for (const path of ['/dev/zero', root]) {
      expectLine(name, await limited(wordsOf(path)))
    }
  })

  test('is not larger than what it may hold', async () => {
    const path = fresh('large')
    run('truncate', '--size=8G', path)
    run('chmod', '600', path)
    expectLine(name, await limited(wordsOf(path)))
  })
})

/** Runs a command in a shell that puts the output of another one in the place of a file. */
function inShell(words: readonly string[], script: string, env: Record<string, string> = {}) {
  // The binary under test is no setting of the vault.
  const { COFFER_BINARY: _, ...inherited } = process.env
  const ended = Bun.spawnSync(
    [
      'timeout',
      '--foreground',
      '60',
      'bash',
      '-c',
      `"$@" ${script}`,
      'sh',
      ...cofferCommand,
      ...words,
    ],
    { env: { ...inherited, ...env } },
  )
  return {
    exitCode: ended.exitCode,
    stdout: ended.stdout.toString(),
    stderr: ended.stderr.toString(),
  }
}

const rules = [
  {
    description: 'x',
    priority: 1,
    container: '/a/',
    transform: 'mask',
    permissions: ['token:read'],
  },
]

describe('the pipe of another command', () => {
  const create = (data: string) => ['app', 'create', '--data', data, '--type', 'private', '--json']

  test('brings rules, by <(...) of a shell, by /dev/stdin and by a name', async () => {
    const data = copyOfVault()
    const file = fresh('rules')
    writeFileSync(file, JSON.stringify(rules))
    const named = pipe()
    const ways = [
      `--rules <(sleep 1; cat ${file})`,
      `--rules /dev/stdin < <(cat ${file})`,
      `--rules /dev/stdin < ${file}`,
      `--rules ${named} & sleep 1; cat ${file} > ${named}; wait $!`,
    ]
    for (const way of ways) {
      const { exitCode, stderr, stdout } = inShell(create(data), way)
      expect([way, exitCode, stderr]).toEqual([way, 0, ''])
      expect(stdout).toContain('"key"')
    }
  })

  test('that brings too much is refused, and so is one that brings nothing', () => {
    const data = copyOfVault()
    for (const way of ['<(yes)', '<(true)', '<(cat /dev/zero)']) {
      const ended = inShell(create(data), `--rules ${way}`)
      expect([way, ended.exitCode]).toEqual([way, 2])
      expect(ended.stderr).toMatch(/^coffer: [^\n]+\n$/)
    }
  })

  test('brings settings and an API key', async () => {
    const config = fresh('config')
    writeFileSync(config, '{"port": "nowhere"}')
    const serve = ['serve', '--data', made]
    expect(inShell(serve, `--config <(cat ${config})`).stderr).toContain('port')
    const data = copyOfVault()
    const key = fresh('key')
    expect((await runCoffer(['app', 'create', '--data', data, '--key-file', key])).exitCode).toBe(0)
    const server = await startCoffer(['serve', '--data', data, '--port', '0'])
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? ''
    const asked = inShell(['permissions', '--addr', address], `--key-file <(cat ${key})`)
    expect([asked.exitCode, asked.stderr]).toEqual([0, ''])
    await server.end('SIGTERM')
  })
})

test('a link to a regular file, as a container has it, is read', async () => {
  const data = copyOfVault()
  const folder = fresh('secrets')
  mkdirSync(folder)
  for (const [name, text] of [
    ['rules', JSON.stringify(rules)],
    ['config', '{}'],
  ] as const) {
    writeFileSync(join(folder, `.${name}`), text)
    symlinkSync(join(folder, `.${name}`), join(folder, name))
  }
  const create = ['app', 'create', '--data', data, '--type', 'private']
  expect((await limited([...create, '--rules', join(folder, 'rules')])).exitCode).toBe(0)
  const doctor = ['doctor', '--data', data, '--port', '0', '--config', join(folder, 'config')]
  expect((await limited(doctor)).stderr).not.toContain('config')
})

describe.each(['format', 'store/database', 'master.kdf'])('a pipe at %s in a data folder', name => {
  const given = name === 'master.kdf' ? ['--passphrase-fd', '0'] : []

  // proves E26.5
  test.each(['doctor', 'serve', 'status', 'compact', 'verify'])(
    'keeps %s from nothing',
    async word => {
      const data = copyOfVault()
      rmSync(join(data, name), { force: true })
      if (given.length > 0) rmSync(join(data, 'master.key'))
      run('mkfifo', join(data, name))
      const port = word === 'serve' || word === 'doctor' ? ['--port', '0'] : []
      const words = [word, '--data', data, ...port, ...(word === 'status' ? [] : given)]
      const ended = await limited(words)
      expect([word, ended.exitCode]).toEqual([word, 1])
      expect(ended.stderr).toMatch(/^coffer: [^\n]+\n$/)
    },
  )
})

test("a passphrase's file beside a backup is copied from no pipe", async () => {
  const backup = fresh('backup')
  await runCoffer(['backup', '--data', made, '--to', backup])
  run('mkfifo', `${backup}.kdf`)
  const ended = await limited(['restore', backup, '--keep-keys', '--data', empty(), ...keyOfMade()])
  expectLine('restore', ended)
  expect(ended.stderr).toContain('.kdf')
  expect(readFileSync(backup).length).toBeGreaterThan(0)
})
