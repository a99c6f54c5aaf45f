/**
 * `coffer app create` and `coffer doctor`: the way back in, and what an operator is told.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { weaknessesOf } from '../../src/server/process/weaknesses.ts'
import { defaultSettings, type Settings } from '../../src/settings/settings.ts'
import { runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { requestOf } from '../support/vault.ts'

let root: string
let made: string
let tenantId: string

beforeAll(async () => {
  root = temporaryFolder()
  made = join(root, 'made')
  const { stdout } = await runCoffer(['init', '--data', made, '--json'])
  tenantId = (JSON.parse(stdout) as { tenant_id: string }).tenant_id
})

function copyOfMade(name: string): string {
  const copy = join(root, name)
  cpSync(made, copy, { recursive: true })
  return copy
}

const appCreate = (data: string, ...more: readonly string[]) =>
  runCoffer(['app', 'create', '--data', data, ...more])

function expectFailure({ exitCode, stdout, stderr }: Ended, code: number, says: RegExp): void {
  expect([exitCode, stdout]).toEqual([code, ''])
  expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(stderr).toMatch(says)
}

/** Asks a server of this folder with a key, and ends it. */
async function askOnce(data: string, key: string, method: string, path: string, body?: unknown) {
  const socket = join(root, 'socket')
  const server = await startCoffer(['serve', '--data', data, '--socket', socket])
  try {
    const asked = body === undefined ? { key } : { key, body }
    const response = await fetch(requestOf(method, path, asked), { unix: socket })
    const text = await response.text()
    return { status: response.status, body: JSON.parse(text) as Record<string, unknown> }
  } finally {
    await server.end('SIGTERM')
  }
}

describe('coffer app create', () => {
  // proves C13.9, H147
  test('mints a management application that can create others', async () => {
    const data = copyOfMade('minted')
    const { exitCode, stdout, stderr } = await appCreate(data, '--json', '--name', 'Back in')
    expect([exitCode, stderr]).toEqual([0, ''])
    const facts = JSON.parse(stdout) as { key: string; tenant_id: string; application_id: string }
    expect(facts.tenant_id).toBe(tenantId)
    const own = await askOnce(data, facts.key, 'GET', '/applications/key')
    expect(own.body).toMatchObject({
      id: facts.application_id,
      name: 'Back in',
      type: 'management',
    })
    const body = { name: 'another', type: 'public', permissions: ['token:create'] }
    expect((await askOnce(data, facts.key, 'POST', '/applications', body)).status).toBe(201)
  })

  test('may never read tokens', async () => {
    const data = copyOfMade('no-tokens')
    const { stdout } = await appCreate(data, '--json', '--tenant', tenantId)
    const { key } = JSON.parse(stdout) as { key: string }
    expect((await askOnce(data, key, 'GET', '/tokens')).status).toBe(403)
  })

  test('refuses another tenant, a name that is none, and a foreign master key', async () => {
    const data = copyOfMade('refused')
    const absent = '00000000-0000-4000-8000-000000000000'
    expectFailure(await appCreate(data, '--tenant', absent), 1, /no such tenant/)
    for (const name of ['', ' ', 'x'.repeat(201)]) {
      expectFailure(await appCreate(data, '--name', name), 2, /--name: expected 1 to 200/)
    }
    const other = join(root, 'other')
    await runCoffer(['init', '--data', other])
    const foreign = join(other, 'master.key')
    expectFailure(await appCreate(data, '--master-key-file', foreign), 1, /not the one of/)
  })

  test('has a running server do it, which knows the new key at once', async () => {
    const data = copyOfMade('running')
    const socket = join(root, 'running-socket')
    const server = await startCoffer(['serve', '--data', data, '--socket', socket])
    try {
      const { exitCode, stdout } = await appCreate(data, '--json')
      expect(exitCode).toBe(0)
      const { key } = JSON.parse(stdout) as { key: string }
      const response = await fetch(requestOf('GET', '/applications/key', { key }), { unix: socket })
      expect(response.status).toBe(200)
      expectFailure(await appCreate(data, '--tenant', 'of-nobody'), 1, /no such tenant/)
    } finally {
      await server.end('SIGTERM')
    }
    expect(await server.stderr).not.toMatch(/key_\w{20}/)
  })
})

const doctor = (...args: readonly string[]) => runCoffer(['doctor', ...args])

describe('coffer doctor', () => {
  // proves C1.59
  test('says what weakens a vault, also beside a running server', async () => {
    const data = copyOfMade('examined')
    const server = await startCoffer(['serve', '--data', data, '--socket', join(root, 'doc.sock')])
    const { exitCode, stdout } = await doctor('--data', data)
    expect(exitCode).toBe(0)
    expect(stdout).toContain('warning: master key: the master key lies beside the data')
    expect(stdout).toContain(
      'warning: --cors-origins: pages of any origin may call, also with private keys',
    )
    expect(stdout).toContain('note: applications: while a server runs, applications')
    expect(await server.end('SIGTERM')).toBe(0)
  })

  // proves C11.18
  test('has nothing to say of a vault that is set up with care', async () => {
    const data = copyOfMade('careful')
    const key = join(root, 'careful.key')
    renameSync(join(data, 'master.key'), key)
    const careful = ['--cors-origins', 'https://shop.example']
    const limited = ['--requests-per-second-max', '100', '--master-key-file', key]
    const { exitCode, stdout } = await doctor('--data', data, ...careful, ...limited)
    expect(exitCode).toBe(0)
    const [note, last, ...more] = stdout.trimEnd().split('\n')
    expect([last, ...more]).toEqual(['no faults, 0 warnings'])
    // A key that can create applications can make one that reveals; others are not listed.
    const listed =
      /^note: applications: applications that can make a key which reveals: ([0-9a-f-]{36})$/
    expect(note).toMatch(listed)
  })

  test('finds faults, and ends with 1', async () => {
    const data = copyOfMade('faulty')
    chmodSync(data, 0o755)
    expect((await doctor('--data', data)).stdout).toContain('can be used by others')
    rmSync(join(data, 'store', 'data.mdb'))
    const { exitCode, stdout, stderr } = await doctor('--data', data, '--json')
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^coffer: 1 of \d+ findings are faults\n$/)
    const { findings } = JSON.parse(stdout) as { findings: { level: string; text: string }[] }
    const faults = findings.filter(({ level }) => level === 'fault')
    expect(faults.map(({ text }) => text)).toEqual([expect.stringMatching(/database .* missing/)])
  })

  test.each([
    ['cardNumberGuard', false],
    ['maskGuard', false],
    ['strictMasks', false],
    ['corsOrigins', ['*']],
    ['requestsPerSecondMax', undefined],
    ['trustedProxies', ['10.0.0.0/8', '0.0.0.0/0']],
    ['trustedProxies', ['::/0']],
  ] satisfies [keyof Settings, unknown][])('warns of %s as %j', (name, weak) => {
    const careful: Settings = {
      ...defaultSettings,
      corsOrigins: ['https://shop.example'],
      requestsPerSecondMax: 1,
      trustedProxies: ['127.0.0.1', '10.0.0.0/8', '::1', 'fc00::/7'],
    }
    const address = { host: '127.0.0.1', port: 1 }
    expect(weaknessesOf(careful, address)).toEqual([])
    expect(weaknessesOf({ ...careful, [name]: weak }, address).length).toBe(1)
  })

  test('warns of an address that others reach', () => {
    const own = { host: '127.0.0.1', port: 1 }
    const without = weaknessesOf(defaultSettings, own).length
    const toldTo = (host: string) =>
      weaknessesOf(defaultSettings, own, { ops: { host, port: 1 } }).length - without
    expect(['127.0.0.1', '::1', 'localhost', '0.0.0.0', 'example.com'].map(toldTo)).toEqual([
      0, 0, 0, 1, 1,
    ])
    const texts = (host: string) => weaknessesOf(defaultSettings, { host, port: 1 }).length
    expect(texts('0.0.0.0')).toBe(texts('localhost') + 1)
    expect(texts('127.0.0.2')).toBe(texts('::1'))
    const tls = { cert: 'a.pem', key: 'a.key' }
    const address = { host: '0.0.0.0', port: 1 }
    expect(weaknessesOf(defaultSettings, address, { tls }).length).toBe(texts('localhost'))
  })
})
