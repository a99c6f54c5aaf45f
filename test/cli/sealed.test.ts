/**
 * `coffer keys split | join`, `serve --sealed`, `unseal` and `seal`, of processes as a person
 * starts them.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { foundInMemoryOf } from '../support/process-memory.ts'
import { until } from '../support/until.ts'

let root: string
let data: string
let keyFile: string
let manager: string
let shares: readonly string[]
let foreign: readonly string[]

const json = ({ exitCode, stdout, stderr }: Ended): unknown => {
  expect([exitCode, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

async function makeVault(folder: string, key: string): Promise<string> {
  const words = ['init', '--data', folder, '--master-key-file', key, '--json']
  return (json(await runCoffer(words)) as { key: string }).key
}

const split = (folder: string, key: string, ...more: readonly string[]) =>
  runCoffer(
    ['keys', 'split', '--data', folder, '--master-key-file', key].concat(
      ['--shares', '4', '--threshold', '3'],
      more,
    ),
  )

async function sharesOf(folder: string, key: string): Promise<readonly string[]> {
  const ended = await split(folder, key)
  expect([ended.exitCode, ended.stderr]).toEqual([0, ''])
  return ended.stdout.trimEnd().split('\n')
}

beforeAll(async () => {
  root = temporaryFolder()
  data = join(root, 'vault')
  keyFile = join(root, 'key')
  manager = await makeVault(data, keyFile)
  shares = await sharesOf(data, keyFile)
  const [other, otherKey] = [join(root, 'other'), join(root, 'other-key')]
  await makeVault(other, otherKey)
  foreign = await sharesOf(other, otherKey)
})

const some = (...which: readonly number[]): { readonly input: string } => ({
  input: which.map(at => `${shares[at]}\n`).join(''),
})

function expectFailure({ exitCode, stdout, stderr }: Ended, says: RegExp, code = 1): void {
  expect([exitCode, stdout]).toEqual([code, ''])
  expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(stderr).toMatch(says)
  expect(stderr).not.toContain('coffer-share-')
}

describe('coffer keys split', () => {
  test('prints shares, or writes each to a file of its owner', async () => {
    expect(shares).toHaveLength(4)
    for (const share of shares) expect(share).toMatch(/^coffer-share-1-03-0[1-4]-[0-9a-f-]+$/)
    const folder = join(root, 'shares')
    const words = ['--to-dir', folder, '--json']
    const { files } = json(await split(data, keyFile, ...words)) as { files: readonly string[] }
    expect(
      readdirSync(folder)
        .map(name => join(folder, name))
        .toSorted(),
    ).toEqual([...files])
    for (const file of files) expect(statSync(file).mode & 0o777).toBe(0o600)
    const input = files.map(file => readFileSync(file, 'latin1')).join('')
    const to = join(root, 'key-of-files')
    const words2 = ['keys', 'join', '--master-key-file', to]
    expect((await runCoffer(words2, { input })).exitCode).toBe(0)
    expectFailure(await split(data, keyFile, '--to-dir', folder), /is there already/)
  })

  test('splits no key that is not the one of the vault', async () => {
    const wrong = join(root, 'other-key')
    expectFailure(await split(data, wrong), /the master key is not the one of/)
    const words = ['serve', '--data', data, '--master-key-file', keyFile, '--port', '0']
    const server = await startCoffer(words)
    expectFailure(await split(data, wrong), /the master key is not the one of this vault/)
    expect((await split(data, keyFile)).exitCode).toBe(0)
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('refuses numbers that cannot be', async () => {
    const numbers = [
      ['1', '1'],
      ['5', '6'],
      ['21', '2'],
      ['many', '2'],
    ]
    for (const [count = '', threshold = ''] of numbers) {
      const words = ['--shares', count, '--threshold', threshold]
      expectFailure(await split(data, keyFile, ...words), /expected 2 to 20 shares/, 2)
    }
  })
})

describe('coffer keys join', () => {
  const join_ = (to: string, input: string) =>
    runCoffer(['keys', 'join', '--master-key-file', to], { input })

  test('writes the key again, for its owner', async () => {
    const to = join(root, 'joined')
    const ended = await join_(to, `\n ${shares[3]?.toUpperCase()}\n${shares[0]}\r\n${shares[2]}`)
    expect([ended.exitCode, ended.stderr]).toEqual([0, ''])
    expect(readFileSync(to)).toEqual(readFileSync(keyFile))
    expect(statSync(to).mode & 0o777).toBe(0o600)
    expectFailure(await join_(to, some(0, 1, 2).input), /replaces no key/)
  })

  test('writes it into an empty file, as a join leaves it that was killed', async () => {
    const to = join(root, 'joined-again')
    writeFileSync(to, '', { mode: 0o600 })
    expect((await join_(to, some(0, 1, 2).input)).exitCode).toBe(0)
    expect(readFileSync(to)).toEqual(readFileSync(keyFile))
    writeFileSync(to, '\n', { mode: 0o600 })
    expectFailure(await join_(to, some(0, 1, 2).input), /replaces no key/)
  })

  // proves S21
  test.each<readonly [string, () => string, RegExp]>([
    ['too few shares', () => some(0, 1).input, /too few shares: 2 of 3 came/],
    ['none', () => '\n', /too few shares: there was none/],
    ['the same share twice', () => some(0, 0).input, /is here already/],
    ['a damaged share', () => `${shares[0]?.slice(0, -1)}_\n`, /its checksum does not fit/],
    ['a share of another vault', () => `${shares[0]}\n${foreign[1]}\n`, /of another key/],
    ['something else', () => 'planted\n', /is not a share/],
  ])('with %s writes nothing', async (_, input, says) => {
    const to = join(root, 'not-joined')
    expectFailure(await join_(to, input()), says)
    expect(existsSync(to)).toBe(false)
  })
})

/** A process that was started sealed. */
async function startSealed() {
  const words = ['serve', '--data', data, '--sealed', '--port', '0', '--ops-port', '0']
  const server = await startCoffer(words)
  const [ops = '', vault = ''] = server.ready.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? []
  const own = `${vault}/applications/key`
  return {
    server,
    ops,
    vault,
    ask: async () => (await fetch(own, { headers: { 'SVC-API-KEY': manager } })).status,
    ready: async () => {
      const answer = await fetch(`${ops}/readyz`)
      return [answer.status, await answer.text()]
    },
    send: async (body: string, headers: Readonly<Record<string, string>> = {}) => {
      const answer = await fetch(`${ops}/sys/unseal`, { method: 'POST', body, headers })
      return [answer.status, await answer.json().catch(() => undefined)]
    },
    unseal: (options: { readonly input?: string }, ...more: readonly string[]) =>
      runCoffer(['unseal', '--data', data, ...more], options),
    seal: (...more: readonly string[]) => runCoffer(['seal', '--data', data, ...more]),
  }
}

describe('a server that is sealed', () => {
  // proves S22
  test('answers 503 to whatever is asked, and says why it is not ready', async () => {
    const { server, vault, ops, ask, ready } = await startSealed()
    for (const [method, path] of [
      ['GET', '/tokens'],
      ['POST', '/tokens'],
      ['OPTIONS', '/tokens'],
      ['GET', '/no/such/address'],
      ['GET', '/swagger'],
    ]) {
      const answer = await fetch(vault + path, { method: method ?? '' })
      expect([path, answer.status]).toEqual([path, 503])
      expect(answer.headers.get('retry-after')).toBe('1')
      const problem = (await answer.json()) as Record<string, unknown>
      const detail = 'The vault is sealed: its operator runs coffer unseal.'
      expect(problem).toMatchObject({ status: 503, detail })
    }
    expect(await ask()).toBe(503)
    expect(await ready()).toEqual([503, 'not ready: sealed\n'])
    expect((await fetch(`${ops}/healthz`)).status).toBe(200)
    const told = await (await fetch(`${ops}/metrics`)).text()
    expect(told).toContain('coffer_check_failed{check="sealed"} 1\n')
    expect(told).not.toContain('coffer_store_rows')
    const words = ['keys', 'status', '--data', data]
    expectFailure(await runCoffer(words), /the vault is sealed: run coffer unseal/)
    const other = await runCoffer(['verify', '--data', data, '--master-key-file', keyFile])
    expectFailure(other, /another coffer runs on this data folder/)
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('is unsealed share by share, by socket and listener, and sealed again', async () => {
    const { server, ask, ready, send, unseal, seal } = await startSealed()
    const first = await unseal(some(3), '--json')
    expect(json(first)).toEqual({ sealed: true, shares: 1, threshold: 3 })
    expect(await send(shares[1] ?? '')).toEqual([200, { sealed: true, shares: 2, threshold: 3 }])
    // Shares that came by the listener count there alone.
    const second = await unseal(some(2))
    expect(second.stdout).toBe('The vault is sealed: 2 of 3 shares came.\n')
    expect([await ask(), await ready()]).toEqual([503, [503, 'not ready: sealed\n']])
    expect(await send(shares[0] ?? '')).toEqual([
      200,
      { sealed: false, shares: 0, threshold: null },
    ])
    expect([await ask(), await ready()]).toEqual([200, [200, 'ready\n']])
    expect((await send(shares[0] ?? ''))[0]).toBe(409)
    expectFailure(await unseal(some(0)), /the vault is not sealed/)
    expect((await seal()).stdout).toBe('The vault is sealed.\n')
    expect([await ask(), await ready()]).toEqual([503, [503, 'not ready: sealed\n']])
    expectFailure(await seal(), /the vault is sealed already/)
    for (const at of [0, 1, 2]) await send(shares[at] ?? '')
    expect([await ask(), await ready()]).toEqual([200, [200, 'ready\n']])
    expect(await server.end('SIGTERM')).toBe(0)
    expect((await server.stderr) + (await server.stdout)).not.toContain('coffer-share')
  })

  test('is unsealed by the key from any place', async () => {
    const { server, ask, unseal, seal } = await startSealed()
    const places: readonly [Parameters<typeof runCoffer>[1], readonly string[]][] = [
      [{}, ['--master-key-file', keyFile]],
      [{ env: { COFFER_MASTER_KEY: readFileSync(keyFile, 'latin1').trim() } }, []],
    ]
    for (const [options = {}, words] of places) {
      const ended = await unseal(options, ...words)
      expect([ended.exitCode, ended.stdout]).toEqual([0, 'The vault is unsealed.\n'])
      expect(await ask()).toBe(200)
      expect((await seal()).exitCode).toBe(0)
    }
    expect(await server.end('SIGTERM')).toBe(0)
  })

  // proves S22
  test('stays sealed with what does not open it', async () => {
    const { server, ask, send, unseal } = await startSealed()
    expectFailure(await unseal({}, '--master-key-file', join(root, 'other-key')), /is not the one/)
    expectFailure(await unseal({ input: 'planted\n' }), /is not a share/)
    expectFailure(await unseal({}), /expected a share, and there was none/)
    await send(shares[0] ?? '')
    expect(await send(shares[0] ?? '')).toEqual([
      400,
      expect.objectContaining({ failed: expect.stringContaining('is here already') }),
    ])
    expect((await send(foreign[1] ?? ''))[0]).toBe(400)
    expect(await send(shares[1] ?? '', { origin: 'https://shop.example' })).toEqual([
      403,
      undefined,
    ])
    expect((await send('x'.repeat(10_000)))[0]).toBe(413)
    expect((await unseal({}, '--reset')).stdout).toBe('The vault is sealed.\n')
    for (const at of [0, 1]) expect((await send(foreign[at] ?? ''))[0]).toBe(200)
    const failed = { failed: 'these shares do not open this vault' }
    expect(await send(foreign[2] ?? '')).toEqual([400, failed])
    expect(await ask()).toBe(503)
    expect((await unseal(some(0, 1, 2))).exitCode).toBe(0)
    expect(await ask()).toBe(200)
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('is unsealed on the machine, whatever shares come by its listener', async () => {
    const { server, ask, send, unseal } = await startSealed()
    expect((await unseal(some(0))).exitCode).toBe(0)
    for (const at of [0, 1]) await send(foreign[at] ?? '')
    expect((await unseal(some(1, 2))).stdout).toEndWith('The vault is unsealed.\n')
    expect(await ask()).toBe(200)
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('has no wrong try left after so many from its listener', async () => {
    const { server, send, unseal } = await startSealed()
    for (let count = 0; count < 10; count += 1) expect((await send('wrong'))[0]).toBe(400)
    expect((await send(shares[0] ?? ''))[0]).toBe(429)
    expect((await unseal(some(0, 1, 2))).exitCode).toBe(0)
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('takes no key at its start', async () => {
    const words = ['serve', '--data', data, '--sealed', '--port', '0']
    const named = await runCoffer([...words, '--master-key-file', keyFile])
    expectFailure(named, /--sealed: the master key is brought later/, 2)
    const copied = await runCoffer([...words, '--workers', '2', '--backup-to', join(root, 'none')])
    expectFailure(
      copied,
      /--backup-to: each backup reads the master key .*, which --sealed has not: use coffer backup/,
      2,
    )
    const nothing = join(root, 'nothing')
    mkdirSync(nothing)
    const wrong = await runCoffer(['serve', '--data', nothing, '--sealed', '--port', '0'])
    expectFailure(wrong, /is not a data folder/)
  })

  // The memory of a guarded process is root's alone.
  // proves S22
  test.skipIf(process.getuid?.() !== 0)('has neither key nor shares in memory', async () => {
    const { server, ask, send, unseal, seal } = await startSealed()
    expect((await send(shares[0] ?? ''))[0]).toBe(200)
    for (const refused of [shares[0], foreign[1]]) expect((await send(refused ?? ''))[0]).toBe(400)
    for (const at of [1, 2]) expect((await send(shares[at] ?? ''))[0]).toBe(200)
    expect(await ask()).toBe(200)
    // A share that comes too late is as secret as the others.
    expect((await send(shares[1] ?? ''))[0]).toBe(409)
    const key = readFileSync(keyFile, 'latin1').trim()
    const parts = [...shares.slice(0, 3), foreign[1] ?? ''].map(
      share => share.split('-').at(-2) ?? '',
    )
    const forms = [key, ...parts].flatMap(hex => [Buffer.from(hex, 'hex'), Buffer.from(hex)])
    expect(foundInMemoryOf(server.pid, forms)).toEqual([])
    await seal()
    const ways: Parameters<typeof unseal>[] = [[some(0, 1, 2)], [{}, '--master-key-file', keyFile]]
    for (const way of ways) {
      expect((await unseal(...way)).exitCode).toBe(0)
      expect(foundInMemoryOf(server.pid, forms)).toEqual([])
      await seal()
    }
    expect(await server.end('SIGTERM')).toBe(0)
  })
})

describe('coffer seal', () => {
  test('lets what is under way end, and what was written stays', async () => {
    const words = ['serve', '--data', data, '--master-key-file', keyFile, '--port', '0']
    const server = await startCoffer(words)
    const [vault = ''] = server.ready.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? []
    const headers = { 'SVC-API-KEY': manager, 'content-type': 'application/json' }
    const statuses: number[] = []
    let isDone = false
    const writing = Array.from({ length: 4 }, async () => {
      while (!isDone) {
        const body = JSON.stringify({ name: 'app', type: 'private', permissions: ['token:read'] })
        const answer = await fetch(`${vault}/applications`, { method: 'POST', headers, body })
        await answer.text()
        statuses.push(answer.status)
      }
    })
    await until(() => statuses.includes(201))
    expect((await runCoffer(['seal', '--data', data])).exitCode).toBe(0)
    await until(() => statuses.includes(503))
    isDone = true
    await Promise.all(writing)
    expect([...new Set(statuses)].toSorted()).toEqual([201, 503])
    const unsealed = ['unseal', '--data', data, '--master-key-file', keyFile]
    expect((await runCoffer(unsealed)).exitCode).toBe(0)
    const list = ['app', 'list', '--data', data, '--master-key-file', keyFile, '--json']
    const listed = await runCoffer(list)
    const { applications } = json(listed) as { applications: readonly unknown[] }
    expect(applications).toHaveLength(1 + statuses.filter(status => status === 201).length)
    expect(await server.end('SIGTERM')).toBe(0)
    const ended = await runCoffer(['verify', '--data', data, '--master-key-file', keyFile])
    expect(ended.exitCode).toBe(0)
  })

  test('is refused where nobody serves', async () => {
    expectFailure(await runCoffer(['seal', '--data', data]), /no server runs on/)
    expectFailure(await runCoffer(['unseal', '--data', data], some(0)), /no server runs on/)
  })
})
