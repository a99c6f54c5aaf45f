/**
 * A process whose files may only have some length, as by `ulimit -f`. Hardening H168.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { identityToRecipient, generateX25519Identity } from 'age-encryption'
import { startVault } from '../../src/testing/index.ts'
import { runCoffer, startCoffer, type Ended, type RunOptions } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

function expectRefusal({ exitCode, stdout, stderr }: Ended, says: RegExp): void {
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(stderr).toMatch(says)
}

const database = (data: string): Buffer => readFileSync(join(data, 'store/data.mdb'))

/** Limits the length of files; `sh` counts blocks of 512 bytes. */
const filesOf = (bytes: number): RunOptions => ({
  prefix: ['sh', '-c', `ulimit -f ${bytes / 512}; exec "$@"`, 'sh'],
})

// The binary unpacks its engine once, which takes files of 4 MiB.
beforeAll(async () => {
  expect((await runCoffer(['version'])).exitCode).toBe(0)
})

describe('a process whose files may be no longer than', () => {
  let folder: string
  let full: string
  let backup: string
  let caller: Readonly<Record<string, string>>
  beforeAll(async () => {
    folder = temporaryFolder()
    full = join(folder, 'vault')
    const init = await runCoffer(['init', '--data', full, '--json'])
    const { key } = JSON.parse(init.stdout) as { readonly key: string }
    const server = await startCoffer(['serve', '--data', full, '--port', '0'])
    const port = /:(\d+)\s*$/.exec(server.ready)?.[1]
    const ask = async (path: string, body: object, by: string) => {
      const headers = { 'svc-api-key': by, 'content-type': 'application/json' }
      const address = `http://127.0.0.1:${port}${path}`
      const answer = await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) })
      expect(answer.status).toBe(201)
      return (await answer.json()) as { readonly key: string }
    }
    const permissions = ['token:create']
    const writer = await ask('/applications', { name: 'a', type: 'private', permissions }, key)
    const token = { type: 'token', data: 'x'.repeat(400_000) }
    for (let count = 0; count < 4; count += 1) await ask('/tokens', token, writer.key)
    expect(await server.end('SIGTERM')).toBe(0)
    backup = join(folder, 'whole.backup')
    expect((await runCoffer(['backup', '--data', full, '--to', backup])).exitCode).toBe(0)
    caller = { COFFER_ADDR: 'http://127.0.0.1:9', COFFER_KEY: key }
  })

  const masterKey = () => ['--master-key-file', join(full, 'master.key')]

  /** Commands that write there, or to the vault. */
  const commands = (data: string, at: string): readonly (readonly string[])[] => [
    ['compact', '--data', data],
    ['backup', '--data', data, '--to', join(folder, at)],
    ['restore', backup, '--data', join(folder, `${at}-copy`), '--keep-keys', ...masterKey()],
    ['app', 'create', '--name', 'a', '--data', data],
    ['keys', 'rotate', '--data', data],
    ['move', '--data', data, '--to', 'postgres://nobody@127.0.0.1:9/a'],
    ['serve', '--data', data, '--port', '0'],
  ]

  // proves H168
  test('64 KiB is refused before anything is opened or written', async () => {
    const before = [database(full), readdirSync(folder)]
    const words = [
      ['init', '--data', join(folder, 'short')],
      ['token', 'list'],
      ...commands(full, 'short'),
    ]
    for (const command of words) {
      const ended = await runCoffer(command, { ...filesOf(64 * 1024), env: caller })
      expectRefusal(ended, /^coffer: the length of files is limited: lift ulimit -f/)
    }
    expect([database(full), readdirSync(folder)]).toEqual(before)
    expect((await runCoffer(['version'], filesOf(0))).exitCode).toBe(0)
  })

  // proves H168
  test('1 MiB makes a vault, and is refused where there is a longer one', async () => {
    const little = filesOf(1024 ** 2)
    const before = [database(full), readdirSync(folder)]
    for (const command of commands(full, 'longer')) {
      const ended = await runCoffer(command, little)
      expectRefusal(ended, /expected files of 3 MiB, and the length of files is limited to 1 MiB/)
    }
    expect([database(full), readdirSync(folder)]).toEqual(before)
    expect(
      (await runCoffer(['init', '--data', join(temporaryFolder(), 'small')], little)).exitCode,
    ).toBe(0)
  })

  // proves H168
  test('4 MiB does all of it', async () => {
    const copy = join(temporaryFolder(), 'copy')
    cpSync(full, copy, { recursive: true })
    for (const command of commands(copy, 'right').filter(
      ([name]) => name !== 'move' && name !== 'serve',
    )) {
      expect((await runCoffer(command, filesOf(4 * 1024 ** 2))).exitCode).toBe(0)
    }
    expect((await runCoffer(['verify', '--data', copy])).exitCode).toBe(0)
  })
})

// proves H168
test('an export that would be longer leaves no file', async () => {
  const vault = await startVault()
  for (let count = 0; count < 10; count += 1) {
    const body = JSON.stringify({ type: 'token', data: 'x'.repeat(400_000) })
    const headers = { 'svc-api-key': vault.keys.private, 'content-type': 'application/json' }
    const answer = await fetch(`${vault.address}/tokens`, { method: 'POST', headers, body })
    expect(answer.status).toBe(201)
  }
  const folder = temporaryFolder()
  const out = join(folder, 'out')
  const { exitCode, stdout, stderr } = await runCoffer(
    [
      'token',
      'export',
      '--recipient',
      await identityToRecipient(await generateX25519Identity()),
      '--out',
      out,
    ],
    {
      env: { COFFER_ADDR: vault.address, COFFER_KEY: vault.keys.private },
      ...filesOf(3 * 1024 ** 2),
    },
  )
  await vault.stop()
  expect([exitCode, stdout, readdirSync(folder)]).toEqual([2, '', []])
  const expected = 'it would be longer than ulimit -f (LimitFSIZE) allows'
  expect(stderr).toBe(`coffer: --out: ${out}.part: ${expected}; see --help\n`)
})
