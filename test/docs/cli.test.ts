/**
 * `docs/cli.md` says what the program says: its help, its exit codes and what `--json` prints.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { printPage, readCommands, type Told } from '../../scripts/cli-docs/page.ts'
import { printShape } from '../../scripts/cli-docs/print-shape.ts'
import { shapes } from '../../scripts/cli-docs/shapes.ts'
import { runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { startVault, type KeyKind } from '../../src/testing/index.ts'
import { temporaryFolder } from '../support/folders.ts'
import { requestOf } from '../support/vault.ts'

const page = readFileSync(resolve(import.meta.dir, '../../docs/cli.md'), 'utf8')

const commands = readCommands()
let root: string
/** A vault that has a backup beside it. */
let data: string
let backup: string

beforeAll(async () => {
  root = temporaryFolder()
  data = join(root, 'vault')
  backup = join(root, 'a.backup')
  await runCoffer(['init', '--data', data])
  await runCoffer(['backup', '--data', data, '--to', backup])
})

const nameOf = ({ words }: Told): string => words.join(' ')

describe('docs/cli.md', () => {
  test('is what the help says now: else run bun scripts/cli-docs.ts', () => {
    expect(page).toBe(printPage(commands))
  })

  test.each(['', 'app create', 'serve'])('is what the program prints: coffer %s', async name => {
    const { exitCode, stdout } = await runCoffer([...name.split(' ').filter(Boolean), '--help'])
    const { help } = commands.find(command => nameOf(command) === name) ?? {}
    expect([exitCode, stdout.trim()]).toEqual([0, help ?? ''])
  })

  test('finds commands below commands', () => {
    expect(commands.map(nameOf)).toContain('app create')
    expect(commands.map(nameOf)).not.toContain('help')
  })

  test('has a shape of each command that has --json, and of no other', () => {
    const printing = commands.filter(({ help }) => /^ +--json\b/m.test(help)).map(nameOf)
    expect(Object.keys(shapes).toSorted()).toEqual(printing.toSorted())
  })
})

/** Runs it while the vault is served. */
async function beside(run: () => Promise<Ended>): Promise<Ended> {
  const server = await startCoffer(['serve', '--data', data, '--port', '0'])
  const ended = await run()
  await server.end('SIGTERM')
  return ended
}

/** Run of each command that prints the shape of its JSON. */
const runs: Readonly<Record<string, () => Promise<Ended>>> = {
  'config print': () => runCoffer(['config', 'print', '--data', data, '--json']),
  init: () => runCoffer(['init', '--data', join(root, 'another'), '--json']),
  async dev() {
    const running = await startCoffer(['dev', '--port', '0', '--json'])
    const exitCode = await running.end('SIGTERM')
    return { exitCode, stdout: running.ready, stderr: await running.stderr }
  },
  unseal: () => beside(() => runCoffer(['unseal', '--data', data, '--reset', '--json'])),
  seal: () => beside(() => runCoffer(['seal', '--data', data, '--json'])),
  'keys split': () => {
    const numbers = ['--shares', '2', '--threshold', '2']
    return runCoffer(['keys', 'split', '--data', data, ...numbers, '--json'])
  },
  async 'keys join'() {
    const numbers = ['--shares', '2', '--threshold', '2']
    const split = await runCoffer(['keys', 'split', '--data', data, ...numbers])
    const to = ['--master-key-file', join(root, 'joined')]
    return runCoffer(['keys', 'join', ...to, '--json'], { input: split.stdout })
  },
  doctor: () => runCoffer(['doctor', '--data', data, '--json']),
  'app create': () => runCoffer(['app', 'create', '--data', data, '--json']),
  backup: () => runCoffer(['backup', '--data', data, '--to', join(root, 'b.backup'), '--json']),
  'backup list': () => {
    const place = join(root, 'backups')
    mkdirSync(place)
    cpSync(backup, join(place, 'coffer-20261124T215500Z.backup'))
    return runCoffer(['backup', 'list', place, '--data', data, '--json'])
  },
  restore: () => {
    const key = ['--master-key-file', join(data, 'master.key')]
    const words = ['restore', backup, '--data', join(root, 'restored'), ...key]
    return runCoffer([...words, '--revoke-keys', '--json'])
  },
  verify: () => runCoffer(['verify', '--data', data, '--json']),
  'app list': () => runCoffer(['app', 'list', '--data', data, '--json']),
  'audit verify': () => beside(() => runCoffer(['audit', 'verify', '--data', data, '--json'])),
  'audit key': () => beside(() => runCoffer(['audit', 'key', '--data', data, '--json'])),
  async 'audit witness'() {
    const log = (await beside(() => runCoffer(['audit', 'key', '--data', data]))).stdout.trim()
    const words = ['--folder', join(root, 'witness'), '--name', 'w.example', '--log', log]
    const running = await startCoffer(['audit', 'witness', ...words, '--port', '0', '--json'])
    const exitCode = await running.end('SIGTERM')
    return { exitCode, stdout: running.ready, stderr: await running.stderr }
  },
  'log digest': () => runCoffer(['log', 'digest', 'order-17', '--data', data, '--json']),
  async 'app regenerate'() {
    return runCoffer(['app', 'regenerate', await newApp(), '--data', data, '--json'])
  },
  async 'app key list'() {
    return runCoffer(['app', 'key', 'list', await newApp(), '--data', data, '--json'])
  },
  async 'app key add'() {
    return runCoffer(['app', 'key', 'add', await newApp(), '--data', data, '--json'])
  },
  async 'app key revoke'() {
    const id = await newApp()
    const { stdout } = await runCoffer(['app', 'key', 'add', id, '--data', data, '--json'])
    const { id: key } = JSON.parse(stdout) as { id: string }
    return runCoffer(['app', 'key', 'revoke', id, key, '--data', data, '--json'])
  },
  async 'app delete'() {
    return runCoffer(['app', 'delete', await newApp(), '--data', data, '--json'])
  },
  'session list': () => runCoffer(['session', 'list', '--data', data, '--json']),
  'session end': () => served(async () => ['session', 'end', await newSession()]),
  'token create': () => asking(['token', 'create', '--type', 'token'], { input: '1' }),
  'token get': () => asking(['token', 'get', 'shape']),
  'token list': () => asking(['token', 'list']),
  'token search': () => asking(['token', 'search'], { input: 'type:token' }),
  'token update': () => asking(['token', 'update', 'shape'], { input: '{"data":2}' }),
  'token delete': () => asking(['token', 'delete', 'shape']),
  'token import': () => {
    const file = join(temporaryFolder(), 'none.jsonl')
    writeFileSync(file, '', { mode: 0o600 })
    return asking(['token', 'import', file])
  },
  'token export': async () => {
    const recipient = await identityToRecipient(await generateX25519Identity())
    const out = join(temporaryFolder(), 'out')
    return asking(['token', 'export', '--recipient', recipient, '--out', out])
  },
  'token reindex': () => asking(['token', 'reindex', '--where', '*', '--index', '{{ data }}']),
  'token counts': () => asking(['token', 'counts']),
  'session create': () => asking(['session', 'create'], { as: 'public' }),
  'session authorize': authorizing,
  permissions: () => asking(['permissions'], { as: 'management' }),
  'access explain': () => asking(['access', 'explain', 'shape', '--app', 'own'], asManager),
  'access simulate': () =>
    asking(['access', 'simulate', 'own'], {
      ...asManager,
      input: '{"permissions":["token:read"]}',
    }),
  'access review': () => asking(['access', 'review'], asManager),
  status: () => served(async () => ['status']),
  'keys status': () => runCoffer(['keys', 'status', '--data', data, '--json']),
  'keys rotate': () => runCoffer(['keys', 'rotate', '--data', data, '--json']),
  'keys retire': () => runCoffer(['keys', 'retire', '--data', data, '--json']),
  'keys rekey'() {
    const another = join(root, 'rekeyed')
    cpSync(data, another, { recursive: true })
    return runCoffer(['keys', 'rekey', '--data', another, '--json'])
  },
}

const asManager = { as: 'management' } as const

/** Runs a command as a caller of a vault that has a token; `own` is the private application. */
async function asking(
  words: readonly string[],
  { as = 'private', input = '' }: { as?: KeyKind; input?: string } = {},
): Promise<Ended> {
  await using vault = await startVault()
  await vault.seed([{ type: 'token', id: 'shape', data: 1 }])
  const env = { COFFER_ADDR: vault.address, COFFER_KEY: vault.keys[as] }
  const { id: own } = await vault.client('private').applications.current()
  const named = words.map(word => (word === 'own' ? own : word))
  // Awaited, so that the vault is there for as long as that.
  return await runCoffer([...named, '--json'], { env, input })
}

async function authorizing(): Promise<Ended> {
  await using vault = await startVault()
  const { nonce } = await vault.client('public').sessions.create()
  const env = { COFFER_ADDR: vault.address, COFFER_KEY: vault.keys.private }
  const input = JSON.stringify({ nonce, permissions: ['token:read'] })
  return await runCoffer(['session', 'authorize', '--json'], { env, input })
}

async function newApp(): Promise<string> {
  const { stdout } = await runCoffer(['app', 'create', '--data', data, '--json'])
  return (JSON.parse(stdout) as { application_id: string }).application_id
}

const socketOf = (): string => join(root, 'shapes.sock')

/** Runs a command beside a server. */
async function served(words: () => Promise<readonly string[]>): Promise<Ended> {
  const server = await startCoffer(['serve', '--data', data, '--socket', socketOf()])
  try {
    return await runCoffer([...(await words()), '--data', data, '--json'])
  } finally {
    await server.end('SIGTERM')
  }
}

/** Creates a session of a public application, at the server. */
async function newSession(): Promise<string> {
  const { stdout } = await runCoffer(['app', 'create', '--data', data, '--json'])
  const { key: manager } = JSON.parse(stdout) as { key: string }
  const post = async (path: string, key: string, body: object) => {
    const asked = requestOf('POST', path, { key, body })
    return (await (await fetch(asked, { unix: socketOf() })).json()) as Record<string, string>
  }
  const body = { name: 'page', type: 'public', permissions: ['token:create'] }
  const { key = '' } = await post('/applications', manager, body)
  await post('/sessions', key, {})
  const listed = await runCoffer(['session', 'list', '--data', data, '--json'])
  const { sessions } = JSON.parse(listed.stdout) as { sessions: { id: string }[] }
  return sessions[0]?.id ?? ''
}

describe('the JSON output', () => {
  test.each(Object.entries(shapes))('of %s is one line of the shape', async (name, shape) => {
    const run = runs[name]
    if (run === undefined) throw new Error(`say here how ${name} is run`)
    const { exitCode, stdout } = await run()
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^\{[^\n]+\}\n$/)
    expect([...Value.Errors(shape, JSON.parse(stdout))].map(({ path }) => path)).toEqual([])
  })

  test('of verify names each damage', async () => {
    const damaged = join(root, 'damaged')
    await runCoffer(['init', '--data', damaged])
    const database = join(damaged, 'store', 'data.mdb')
    const bytes = readFileSync(database)
    // The first two pages say which commit is the newest; what follows is of rows and indexes.
    bytes.fill(0xff, 2 * 4_096)
    writeFileSync(database, bytes)
    const { exitCode, stdout } = await runCoffer(['verify', '--data', damaged, '--json'])
    const { verify } = shapes
    if (verify === undefined) throw new Error('verify has no shape')
    const told: unknown = JSON.parse(stdout)
    expect([...Value.Errors(verify, told)]).toEqual([])
    expect(exitCode).toBe(1)
    expect((told as { damages: unknown[] }).damages.length).toBeGreaterThan(0)
  })
})

describe('the exit code of every command', () => {
  test('is 2 for an option that it does not have, and the one line repeats no value', async () => {
    for (const command of commands) {
      const { words } = command
      const ended = await runCoffer([...words, '--no-such-option=secret-4111'])
      expect([words, ended.exitCode, ended.stdout]).toEqual([words, 2, ''])
      expect(ended.stderr).toMatch(/^coffer: [^\n]+\n$/)
    }
  })

  test.each([
    ['doctor', []],
    ['serve', ['--port', '0']],
    ['app create', []],
    ['backup', ['--to', 'somewhere']],
    ['verify', []],
    ['compact', []],
  ])('of %s is 1 where there is no vault', async (name, more) => {
    const empty = join(root, 'empty')
    rmSync(empty, { recursive: true, force: true })
    mkdirSync(empty)
    const { exitCode, stderr } = await runCoffer([...name.split(' '), '--data', empty, ...more])
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
  })
})

test('a shape that cannot be printed is refused', () => {
  expect(() => printShape({ type: 'object' } as never)).toThrow(/not printed yet/)
})
