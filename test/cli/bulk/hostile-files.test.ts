/**
 * Files where a command on many tokens is to write: they are neither followed nor overwritten, and
 * are told before anything is done.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { ageHeaderBytesMax, ageRecipientsMax } from '../../../src/limits/operation-limits.ts'
import { startVault, type TestVault } from '../../../src/testing/index.ts'
import { runCoffer } from '../../support/coffer-process.ts'
import { temporaryFolder } from '../../support/folders.ts'

let vault: TestVault
beforeAll(async () => {
  vault = await startVault()
})
afterAll(() => vault.stop())

const run = (...words: readonly string[]) =>
  runCoffer(['token', ...words], {
    env: { COFFER_ADDR: vault.address, COFFER_KEY: vault.keys.private },
  })

const total = async (query: string): Promise<number> =>
  (await vault.client().tokens.searchPage({ query, size: 1 })).pagination.total_items

/** Two tokens of that customer. */
async function makeTokens(customer: string): Promise<string> {
  for (const data of ['one', 'two']) {
    await vault.client().tokens.create({ type: 'token', data, metadata: { customer } })
  }
  return `metadata.customer:${customer}`
}

describe('the receipt of a deletion', () => {
  test('is for its owner, and holds what was deleted', async () => {
    const query = await makeTokens('1')
    const receipt = join(temporaryFolder(), 'receipt')
    const { exitCode } = await run('delete', '--where', query, '--yes', '--receipt', receipt)
    expect([exitCode, statSync(receipt).mode & 0o777]).toEqual([0, 0o600])
    const told = JSON.parse(readFileSync(receipt, 'utf8')) as { readonly deleted: unknown[] }
    expect(told.deleted).toHaveLength(2)
    expect(await total(query)).toBe(0)
  })

  // proves E27.2
  test.each(['a file', 'a link', 'no folder'])(
    'that cannot be written, for %s, keeps every token',
    async what => {
      const query = await makeTokens(what.replace(' ', '-'))
      const folder = temporaryFolder()
      const receipt = join(folder, what === 'no folder' ? 'none/receipt' : 'receipt')
      if (what === 'a file') writeFileSync(receipt, 'mine')
      if (what === 'a link') symlinkSync(join(folder, 'elsewhere'), receipt)
      const told = await run('delete', '--where', query, '--yes', '--receipt', receipt)
      expect([told.exitCode, told.stderr]).toEqual([2, expect.stringContaining('--receipt: ')])
      expect(await total(query)).toBe(2)
      if (what === 'a file') expect(readFileSync(receipt, 'utf8')).toBe('mine')
      expect(existsSync(join(folder, 'elsewhere'))).toBe(false)
    },
  )

  test('of a deletion that did not begin is not there', async () => {
    const receipt = join(temporaryFolder(), 'receipt')
    const { exitCode } = await run('delete', '--where', 'nothing', '--yes', '--receipt', receipt)
    expect([exitCode, existsSync(receipt)]).toEqual([6, false])
  })
})

// proves E26.5
test.each(['a pipe that nobody writes to', 'a device without an end'])(
  'the state of an import is not %s',
  async what => {
    const folder = temporaryFolder()
    const [rows, state] = [join(folder, 'rows.jsonl'), join(folder, 'state')]
    writeFileSync(rows, '{"type":"token","data":"row"}\n', { mode: 0o600 })
    if (what === 'a device without an end') symlinkSync('/dev/zero', state)
    else expect(Bun.spawnSync(['mkfifo', state]).exitCode).toBe(0)
    const told = await runCoffer(['token', 'import', rows, '--state', state, '--resume'], {
      prefix: ['timeout', '--foreground', '--signal=KILL', '60'],
      env: { COFFER_ADDR: vault.address, COFFER_KEY: vault.keys.private },
    })
    expect([told.exitCode, told.stderr]).toEqual([2, expect.stringContaining('is no state')])
  },
)

describe('links where an import writes', () => {
  function makeImport() {
    const folder = temporaryFolder()
    const at = (name: string): string => join(folder, name)
    writeFileSync(at('rows.csv'), 'name\nAda\n', { mode: 0o600 })
    writeFileSync(at('map.json'), '{"type":"token","data":"{{ data.name }}"}')
    writeFileSync(at('victim'), 'mine')
    return { at, words: ['import', at('rows.csv'), '--map', at('map.json')] }
  }

  // proves E27.1
  test('of its state are not followed', async () => {
    const { at, words } = makeImport()
    symlinkSync(at('victim'), at('rows.csv.import.new'))
    await run(...words)
    expect(readFileSync(at('victim'), 'utf8')).toBe('mine')
  })

  // proves E27.1
  test.each(['report', 'ids'])('of its --%s are refused before a row is sent', async name => {
    const { at, words } = makeImport()
    symlinkSync(at('nothing'), at('table'))
    const before = await total('*')
    const told = await run(...words, `--${name}`, at('table'))
    expect([told.exitCode, told.stderr]).toEqual([2, expect.stringContaining('no link')])
    expect([existsSync(at('nothing')), await total('*')]).toEqual([false, before])
  })
})

describe('a sealed file', () => {
  let key: string
  let own: string
  let foreign: string
  beforeAll(async () => {
    const identity = await generateX25519Identity()
    key = join(temporaryFolder(), 'key')
    writeFileSync(key, `${identity}\n`, { mode: 0o600 })
    own = await identityToRecipient(identity)
    foreign = await identityToRecipient(await generateX25519Identity())
  })

  const version = 'age-encryption.org/v1\n'
  const stanza = `-> X25519 ${'A'.repeat(43)}\n${'B'.repeat(43)}\n`
  const long = `with at most ${ageHeaderBytesMax} bytes of recipients before its data`

  // proves E29.4
  test.each([
    ['many recipients', version + stanza.repeat(100_000), long],
    ['a line without an end', `${version}-> X25519 ${'A'.repeat(4_000_000)}`, long],
    ['a last line without an end', `${version}${stanza}--- ${'A'.repeat(4_000_000)}`, long],
    ['no header', 'A'.repeat(4_000_000), 'no age file that --identity opens'],
    ['nothing', '', 'no age file that --identity opens'],
    ['the beginning of a header', version + stanza, 'no age file that --identity opens'],
  ])('of %s is refused, and nothing of it is stored', async (_, text, says) => {
    const input = join(temporaryFolder(), 'rows.jsonl.age')
    writeFileSync(input, text, { mode: 0o600 })
    const before = await total('*')
    const { exitCode, stdout, stderr } = await run('import', input, '--identity', key)
    expect([exitCode, stdout, stderr.split('\n').length]).toEqual([1, '', 2])
    expect(stderr).toContain(says)
    expect(await total('*')).toBe(before)
  })

  // proves E29.4
  test('of as many recipients as an export takes comes back', async () => {
    const where = await makeTokens('sealed')
    const out = join(temporaryFolder(), 'all.jsonl.age')
    const others = Array.from({ length: ageRecipientsMax - 1 }, () => foreign)
    const words = ['export', '--out', out, '--recipient', ...others, own]
    const refused = await run(...words, own)
    expect([refused.exitCode, existsSync(out)]).toEqual([2, false])
    expect(refused.stderr).toContain(`--recipient: expected at most ${ageRecipientsMax}`)
    expect((await run(...words)).exitCode).toBe(0)
    expect((await run('delete', '--where', '*', '--yes')).exitCode).toBe(0)
    expect((await run('import', out, '--identity', key)).exitCode).toBe(0)
    expect(await total(where)).toBe(2)
  })
})
