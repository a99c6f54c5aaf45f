/**
 * The sum over all rows where keys change: it agrees after each step, in the vault, in a backup and
 * in what that restores, and no step makes a vault sound that others changed.
 * @module
 */
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, cpSync } from 'node:fs'
import { join } from 'node:path'
import { openEnvironment } from '../../src/store/lmdb/environment.ts'
import { foldAll } from '../store/fold.ts'
import { rowIn, setRow, tamper } from '../store/tamper.ts'
import { runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

setDefaultTimeout(300_000)

const permissions = ['token:create', 'token:delete']
/** Ordinal of the token `goes`: keyring, tenant and two applications come before it. */
const firstToken = 5
/** The others. */
const tokens = 60

let root: string
/** A stopped vault with tokens, all folded. */
let made: string
/** The key of an application that may make and delete tokens. */
let key: string

let count = 0
const fresh = (name: string): string => join(root, `${name}-${(count += 1)}`)
const masterKeyOf = (data: string): string => join(data, 'master.key')
const storeOf = (data: string): string => join(data, 'store')

type Send = (method: string, path: string, body?: object) => Promise<unknown>

async function serve(data: string): Promise<{ send: Send; end: () => Promise<void> }> {
  const server = await startCoffer(['serve', '--data', data, '--port', '0'])
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready) ?? []
  return {
    async send(method, path, body) {
      const headers = { 'svc-api-key': key, 'content-type': 'application/json' }
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const answer = await fetch(url + path, { method, headers, ...sent })
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status}`)
      return answer.status === 204 ? undefined : answer.json()
    },
    async end() {
      expect(await server.end('SIGTERM')).toBe(0)
    },
  }
}

async function makeTokens(send: Send, name: string): Promise<void> {
  const numbers = Array.from({ length: tokens }, (_, number) => number)
  await Promise.all(
    numbers.map(data => send('POST', '/tokens', { id: `${name}-${data}`, type: 'token', data })),
  )
}

beforeAll(async () => {
  root = temporaryFolder()
  made = fresh('made')
  const init = await runCoffer(['init', '--data', made, '--json'])
  ;({ key } = JSON.parse(init.stdout) as { key: string })
  const { send, end } = await serve(made)
  const body = { name: 'all', type: 'private', permissions }
  ;({ key } = (await send('POST', '/applications', body)) as { key: string })
  await send('POST', '/tokens', { id: 'goes', type: 'token', data: 'x' })
  await makeTokens(send, 'first')
  await end()
  await foldAll(storeOf(made))
})

function copy(): string {
  const data = fresh('vault')
  cpSync(made, data, { recursive: true })
  return data
}

async function run(...words: readonly string[]): Promise<void> {
  const { exitCode, stderr } = await runCoffer(words)
  expect([words, exitCode, stderr]).toEqual([words, 0, expect.any(String)])
}

const verify = (data: string, ...more: readonly string[]): Promise<Ended> =>
  runCoffer(['verify', '--data', data, '--json', ...more])

/** Expects that all agrees, in as many rows. @returns the number of tokens */
async function expectSound(data: string, ...more: readonly string[]): Promise<number | undefined> {
  const { exitCode, stdout, stderr } = await verify(data, ...more)
  const { damages, sum, rows } = JSON.parse(stdout) as {
    readonly damages: unknown
    readonly sum: unknown
    readonly rows: Readonly<Record<string, number>>
  }
  expect([exitCode, stderr, damages, sum]).toEqual([0, '', [], 'compared'])
  return rows['token']
}

async function restore(backup: string, masterKey: string): Promise<string> {
  const restored = fresh('restored')
  const own = ['--master-key-file', masterKey]
  await run('restore', backup, '--data', restored, '--keep-keys', ...own)
  copyFileSync(masterKey, masterKeyOf(restored))
  return restored
}

async function back(data: string): Promise<string> {
  const backup = fresh('backup')
  await run('backup', '--data', data, '--to', backup)
  return backup
}

/** In their order; a second replacement would hide the key of before. */
const steps: readonly (readonly string[])[] = [
  ['rotate'],
  ['retire'],
  ['rekey'],
  ['rotate'],
  ['retire'],
  ['rekey', '--forget-old-key'],
]

/** Returns the kinds of damage that `verify` finds. */
async function kindsIn(data: string): Promise<readonly string[]> {
  const { exitCode, stdout } = await verify(data)
  expect(exitCode).toBe(1)
  const { damages } = JSON.parse(stdout) as { readonly damages: readonly { kind: string }[] }
  return damages.map(({ kind }) => kind)
}

describe('the sum over all rows agrees after each step of the keys', () => {
  test('without a server, in the vault, its backup, and what that restores', async () => {
    const data = copy()
    for (const step of steps) {
      await run('keys', ...step, '--data', data)
      expect(await expectSound(data)).toBe(tokens + 1)
      const backup = await back(data)
      const own = ['--master-key-file', masterKeyOf(data)]
      await run('restore', backup, '--verify-only', ...own)
      expect(await expectSound(await restore(backup, masterKeyOf(data)))).toBe(tokens + 1)
    }
  })

  test('beside a server that writes, in the same three places', async () => {
    const data = copy()
    const { send, end } = await serve(data)
    for (const [at, step] of steps.entries()) {
      const writing = makeTokens(send, `at-${at}`)
      await run('keys', ...step, '--data', data)
      await writing
      await send('DELETE', `/tokens/at-${at}-0`)
      const there = 1 + tokens + (at + 1) * (tokens - 1)
      expect(await expectSound(data, '--online')).toBe(there)
      expect(await expectSound(await restore(await back(data), masterKeyOf(data)))).toBe(there)
    }
    await end()
    await expectSound(data)
  })

  test('a backup from before another master key opens with that of before alone', async () => {
    const data = copy()
    const backup = await back(data)
    await run('keys', 'rekey', '--data', data)
    const look = (masterKey: string): Promise<Ended> =>
      runCoffer(['restore', backup, '--verify-only', '--master-key-file', masterKey])
    expect((await look(masterKeyOf(data))).exitCode).toBe(1)
    const restored = await restore(backup, `${masterKeyOf(data)}.before`)
    expect(await expectSound(restored)).toBe(tokens + 1)
  })
})

describe('a vault in which a deleted row was put back with its index entries', () => {
  // proves S98
  test('is found after each step of the keys, and has no backup', async () => {
    const data = copy()
    const before = openEnvironment(storeOf(data))
    const row = rowIn(before, firstToken)
    await before.root.close()
    const { send, end } = await serve(data)
    await send('DELETE', '/tokens/goes')
    await end()
    await foldAll(storeOf(data))
    expect(await expectSound(data)).toBe(tokens)
    await tamper(storeOf(data), of => setRow(of, firstToken, row))
    expect(await kindsIn(data)).toEqual(['rows_differ'])
    for (const step of steps) {
      await run('keys', ...step, '--data', data)
      expect(await kindsIn(data)).toEqual(['rows_differ'])
      const to = fresh('backup')
      const { exitCode, stderr } = await runCoffer(['backup', '--data', data, '--to', to])
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('is damaged')])
    }
  })
})
