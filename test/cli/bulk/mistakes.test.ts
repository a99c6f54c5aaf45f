/**
 * Files and words that are not what bulk commands expect: each is told before anything is sent.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { startVault, type TestVault } from '../../../src/testing/index.ts'
import { runCoffer } from '../../support/coffer-process.ts'
import { temporaryFolder } from '../../support/folders.ts'

let vault: TestVault
let recipient = ''
beforeAll(async () => {
  vault = await startVault()
  recipient = await identityToRecipient(await generateX25519Identity())
})
afterAll(() => vault.stop())

const files = {
  'rows.csv': 'customer,number\nc-1,4242424242424242\n',
  'map.json': '{"type":"card","data":{"number":"{{ data.number }}"}}',
  'column.json': '{"type":"card","data":{"number":"{{ data.numbr }}"}}',
  'open.json': '{"type":"card","data":{"number":"{{ data.number"}}',
  'cut.json': '{"type":"card","data":{',
  'type.json': '{"type":"kard","data":"{{ data.number }}"}',
  'key.txt': 'no identity',
  'binary.csv': Buffer.from([0xff, 0xd8, 0x00, 0x0a]),
}

function makeFolder(): string {
  const folder = temporaryFolder()
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), content, { mode: 0o600 })
  }
  mkdirSync(join(folder, 'folder.csv'))
  return folder
}

async function failureOf(words: readonly string[], folder: string, address = vault.address) {
  const paths = words.map(word => word.replace(/^\.\//, `${folder}/`).replace('age1', recipient))
  const { exitCode, stderr } = await runCoffer(['token', ...paths], {
    env: { COFFER_ADDR: address, COFFER_KEY: vault.keys.private },
  })
  return [exitCode, stderr.replaceAll(`${folder}/`, './').trim()] as const
}

const rows = ['import', './rows.csv', '--map']
const good = [...rows, './map.json']
const out = ['export', '--recipient', 'age1', '--out']

describe('a mistake is told with what to do, and nothing is stored or written', () => {
  test.each([
    [['import', './none.csv', '--map', './map.json'], 'the input: ./none.csv: there is no such'],
    [['import', './folder.csv', '--map', './map.json'], 'the input: ./folder.csv: it is a folder'],
    [['import', './binary.csv', '--map', './map.json'], 'the header, line 1: it is not UTF-8'],
    [[...rows, './none.json'], '--map: ./none.json: there is no such file'],
    [[...rows, './folder.csv'], '--map: ./folder.csv: expected a JSON object'],
    [[...rows, './cut.json'], 'expected a quoted member name at character 23'],
    [[...rows, './column.json'], 'no column is called "numbr": the header has 2 columns'],
    [[...rows, './open.json'], 'the map: data.number: position'],
    [[...rows, './type.json'], 'the map: type: expected an expression, or one of token, card'],
    [[...good, '--delimiter', '||'], '--delimiter: expected one character'],
    [[...good, '--delimiter', ';'], 'the header has 1 column; names are compared'],
    [[...good, '--report', './none/r.csv'], '--report: ./none/r.csv: there is no such'],
    [[...good, '--report', './folder.csv'], '--report: ./folder.csv: it is a folder'],
    [[...good, '--report', './rows.csv'], 'expected a file of its own for the input'],
    [[...good, '--ids', './none/ids'], '--ids: ./none/ids: there is no such'],
    [[...good, '--state', './none/state'], '--state: ./none/state: there is no such'],
    [[...good, '--identity', './none'], '--identity: ./none: there is no such'],
    [[...good, '--identity', './key.txt'], '--identity: ./key.txt: expected a file as age-keygen'],
    [['export', '--out', './all.age'], 'expected --recipient age1'],
    [[...out, './none/all.age'], '--out: ./none/all.age.part: there is no such'],
    [[...out, './folder.csv'], '--out: expected a new file'],
    [[...out, './all.age', '--type', 'kard'], '--type: expected any of token, card'],
  ])('%p', async (words, told) => {
    const folder = makeFolder()
    const before = readdirSync(folder)
    expect(await failureOf(words, folder)).toEqual([2, expect.stringContaining(told)])
    expect((await vault.client().tokens.listPage()).pagination.total_items).toBe(0)
    const tables = readdirSync(folder).filter(name => !before.includes(name))
    expect(tables).toEqual([])
    expect(readFileSync(join(folder, 'rows.csv'), 'utf8')).toBe(files['rows.csv'])
  })

  test('a part of an export that was ended by force is not written over', async () => {
    const folder = makeFolder()
    writeFileSync(join(folder, 'all.age.part'), 'sealed')
    expect(await failureOf([...out, './all.age'], folder)).toEqual([
      2,
      expect.stringContaining(
        'an export was ended by force, or is under way: remove ./all.age.part',
      ),
    ])
    expect(readFileSync(join(folder, 'all.age.part'), 'utf8')).toBe('sealed')
  })
})

/** JSON that another server may send at an address, in answers that succeed. */
const wrongs: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['numbers', { results: [1], data: [1], pagination: {} }],
  ['things without ids', { results: [{}], data: [{}], pagination: {}, permissions: [], rules: [] }],
]
const commands: readonly (readonly string[])[] = [
  good,
  [...out, './out.age'],
  ['delete', '--where', 'type:card', '--yes'],
  ['reindex', '--where', 'type:card', '--none'],
  ['counts'],
  ['get', 'a'],
]

describe.each(wrongs)('a server that is no vault and answers %s', (_, wrong) => {
  const failureAt = async (words: readonly string[], isKnown: boolean) => {
    const folder = makeFolder()
    const permissions = ['token:read', 'token:update']
    const application = { id: 'a', tenant_id: 't', permissions, rules: [] }
    const isAsked = ({ url }: Request) => isKnown && url.endsWith('/applications/key')
    const answer = (asked: Request) => Response.json(isAsked(asked) ? application : wrong)
    const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
    const [exitCode, stderr] = await failureOf(words, folder, other.url.origin)
    await other.stop(true)
    return [exitCode, stderr.replace(other.url.origin, 'ADDRESS')]
  }
  const refused = [1, 'coffer: the answer of ADDRESS is not one of a vault: is the address right?']

  test.each([...commands])('is told of as that by token %s', async (...words) => {
    expect(await failureAt(words, true)).toEqual(refused)
  })

  test('is told of as that where it says so of the key', async () => {
    expect(await failureAt([...out, './out.age'], false)).toEqual(refused)
  })
})
