/**
 * `coffer token export`, `counts` and `delete --where`.
 * @module
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption'
import { startVault, type TestVault } from '../../../src/testing/index.ts'
import { runCoffer } from '../../support/coffer-process.ts'
import { temporaryFolder } from '../../support/folders.ts'

const number = '4242424242424242'
let [identity, recipient] = ['', '']
beforeAll(async () => {
  identity = await generateX25519Identity()
  recipient = await identityToRecipient(identity)
})

const run = ({ address, keys }: TestVault, words: readonly string[], key = keys.private) =>
  runCoffer(['token', ...words], { env: { COFFER_ADDR: address, COFFER_KEY: key } })

const post = ({ address, keys }: TestVault, body: string) =>
  fetch(`${address}/tokens`, {
    method: 'POST',
    headers: { 'svc-api-key': keys.private, 'content-type': 'application/json' },
    body,
  })

const bodyOf = async ({ address, keys }: TestVault, id: string): Promise<string> => {
  const response = await fetch(`${address}/tokens/${id}`, {
    headers: { 'svc-api-key': keys.private },
  })
  return response.text()
}

const requests = [
  `{"id":"card","type":"card","data":{"number":"${number}","cvc":"123","expiration_year":2040}}`,
  '{"id":"exact","type":"token","data":{"9":1.0,"1":12345678901234567890,"__proto__":[null]}}',
  '{"id":"masked","type":"token","data":"secret","mask":"{{ data | last4 }}",' +
    '"search_indexes":["{{ data }}"],"fingerprint_expression":"{{ data | upcase }}",' +
    '"containers":["/general/x/"],"metadata":{"a":"b"},"expires_at":"2100-01-01T00:00:00+02:00"}',
  `{"id":"hidden","type":"card_number","data":"${number}","mask":null}`,
]

/** Leaves out what belongs to the vault that a token is in, and stays behind there. */
const comparable = (text: string): string =>
  text
    .replace('"cvc":"123",', '')
    .replace(/,"_extras":\{"cvc_expires_at":"[^"]*"\}/, '')
    .replaceAll(/"(?:tenant_id|fingerprint|created_by|created_at)":"[^"]*",?/g, '')

describe('coffer token export', () => {
  let vault: TestVault
  beforeAll(async () => {
    vault = await startVault()
    for (const request of requests) expect((await post(vault, request)).status).toBe(201)
  })
  afterAll(() => vault.stop())

  test('is sealed, opens with age alone, and comes back whole into another vault', async () => {
    const folder = temporaryFolder()
    const out = join(folder, 'all.jsonl.age')
    const told = await run(vault, ['export', '--recipient', recipient, '--out', out])
    expect([told.exitCode, told.stderr]).toEqual([0, ''])
    expect(told.stdout).toContain('4 tokens are in')
    expect(told.stdout).toContain('Codes of cards (cvc) are left out')
    expect([readdirSync(folder), statSync(out).mode & 0o777]).toEqual([['all.jsonl.age'], 0o600])
    expect(readFileSync(out).includes(number)).toBe(false)
    const decrypter = new Decrypter()
    decrypter.addIdentity(identity)
    const text = await decrypter.decrypt(readFileSync(out), 'text')
    expect(text.trim().split('\n')).toHaveLength(4)
    expect(text).not.toContain('cvc')
    const key = join(folder, 'key.txt')
    writeFileSync(key, `# a comment\n${identity}\n`, { mode: 0o600 })
    await using other = await startVault()
    const back = await run(other, ['import', out, '--identity', key])
    // A slow machine is told how far it is.
    const stderr = back.stderr.replaceAll(/^\d+ rows are in, 0 were rejected\n/gm, '')
    expect([back.exitCode, stderr]).toEqual([0, ''])
    for (const id of ['card', 'exact', 'masked', 'hidden']) {
      expect(comparable(await bodyOf(other, id))).toBe(comparable(await bodyOf(vault, id)))
    }
    expect(comparable(await bodyOf(vault, 'exact'))).toContain('{"9":1.0,"1":12345678901234567890')
  })

  test('that is cut off, or opened with another identity, gives no tokens', async () => {
    const folder = temporaryFolder()
    const [out, key] = [join(folder, 'x.jsonl.age'), join(folder, 'key')]
    await run(vault, ['export', '--recipient', recipient, '--out', out])
    writeFileSync(key, await generateX25519Identity(), { mode: 0o600 })
    await using other = await startVault()
    const foreign = await run(other, ['import', out, '--identity', key])
    expect([foreign.exitCode, foreign.stderr]).toEqual([1, expect.stringContaining('no age file')])
    writeFileSync(key, identity)
    writeFileSync(out, readFileSync(out).subarray(0, -20))
    const cut = await run(other, ['import', out, '--identity', key])
    expect([cut.exitCode, cut.stderr]).toEqual([1, expect.stringContaining('cut off')])
    expect((await other.client().tokens.listPage()).pagination.total_items).toBe(0)
  })

  test('goes to an X25519 recipient and a new file alone', async () => {
    const out = join(temporaryFolder(), 'out')
    const failure = async (...words: string[]) => {
      const { exitCode, stderr } = await run(vault, ['export', ...words])
      return [exitCode, stderr]
    }
    const says = (text: string) => [2, expect.stringContaining(text)]
    expect(await failure('--out', out)).toEqual(says('an export is sealed'))
    expect(await failure('--recipient', recipient)).toEqual(says('goes to a file'))
    const wrong = `${recipient.slice(0, -1)}${recipient.endsWith('q') ? 'p' : 'q'}`
    for (const other of ['ssh-ed25519 AAAA', 'age1pq1xyz', wrong]) {
      expect(await failure('--recipient', other, '--out', out)).toEqual(says('number 1 is none'))
    }
    writeFileSync(out, 'mine')
    expect(await failure('--recipient', recipient, '--out', out)).toEqual(says('a new file'))
    expect(readFileSync(out, 'utf8')).toBe('mine')
  })

  test('leaves no file where the key sees masks, and says what it cannot see', async () => {
    const out = join(temporaryFolder(), 'out')
    const words = ['export', '--recipient', recipient, '--out', out, '--json']
    const masking = await vault.application({ type: 'private', permissions: ['token:read'] })
    const { exitCode, stderr, stdout } = await run(vault, words, masking.key)
    expect([exitCode, stdout]).toEqual([3, ''])
    expect(stderr).toContain('masked')
    expect([existsSync(out), existsSync(`${out}.part`)]).toEqual([false, false])
    const rule = { priority: 1, transform: 'reveal', permissions: ['token:read'] } as const
    const narrow = await vault.application({
      type: 'private',
      rules: [{ ...rule, container: '/general/', description: 'some' }],
    })
    const some = await run(vault, words, narrow.key)
    expect(JSON.parse(some.stdout)).toMatchObject({ tokens: 2, codes_left: 0, reads_all: false })
  })

  test('counts say how many there are of each type in each container', async () => {
    const { stdout } = await run(vault, ['counts', '--json'])
    expect(JSON.parse(stdout)).toEqual({
      total: 4,
      counts: [
        { type: 'card', container: '/pci/high/', count: 1 },
        { type: 'card_number', container: '/pci/high/', count: 1 },
        { type: 'token', container: '/general/high/', count: 1 },
        { type: 'token', container: '/general/x/', count: 1 },
      ],
    })
    expect((await run(vault, ['counts'])).stdout).toMatch(/^type +container +count\n/)
  })
})

describe('coffer token delete --where', () => {
  let vault: TestVault
  beforeEach(async () => {
    vault = await startVault()
    const tokens = Array.from({ length: 30 }, (_, at) => ({
      type: 'token' as const,
      data: at,
      metadata: { customer: at % 3 === 0 ? '17' : '18' },
    }))
    await vault.seed(tokens)
  })
  afterEach(() => vault.stop())
  const count = async () => (await vault.client().tokens.listPage()).pagination.total_items

  test('asks first, and nobody who cannot answer deletes anything', async () => {
    const words = ['delete', '--where', 'metadata.customer:17']
    const { exitCode, stderr } = await run(vault, words)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('10 tokens were found')])
    for (const wrong of [['delete'], ['delete', 'x', '--where', '*'], ['delete', '--where', ' ']]) {
      expect((await run(vault, [...wrong])).exitCode).toBe(2)
    }
    expect((await run(vault, ['delete', '--where', '-'])).exitCode).toBe(2)
    expect((await run(vault, ['delete', '--where', 'customer:17', '--yes'])).exitCode).toBe(6)
    expect(await count()).toBe(30)
  })

  test('deletes what it counted and no more, and leaves a receipt without the query', async () => {
    const receipt = join(temporaryFolder(), 'receipt')
    const words = ['delete', '--where', 'metadata.customer:17', '--yes', '--receipt', receipt]
    const { exitCode, stdout } = await run(vault, words)
    expect([exitCode, stdout]).toEqual([0, '10 tokens were deleted.\n'])
    expect(await count()).toBe(20)
    const text = readFileSync(receipt, 'utf8')
    expect(JSON.parse(text)).toMatchObject({ found: 10, gone: [], refused: [] })
    expect((JSON.parse(text) as { deleted: string[] }).deleted).toHaveLength(10)
    expect(text).not.toContain('customer')
  })
})
