/**
 * `coffer token import`: files as people have them, each row once, and no value in its messages.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startVault, type TestVault } from '../../../src/testing/index.ts'
import { cofferCommand, runCoffer } from '../../support/coffer-process.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { makeMessyCsv, messyMap } from '../../support/messy-csv.ts'

let vault: TestVault
beforeAll(async () => {
  vault = await startVault()
})
afterAll(() => vault.stop())

const env = (key = vault.keys.private) => ({ COFFER_ADDR: vault.address, COFFER_KEY: key })

const run = (words: readonly string[], input = '', key = vault.keys.private) =>
  runCoffer(['token', 'import', ...words], { input, env: env(key) })

/** Makes files of these names in a folder of their own. @returns the path of a name */
function makeFiles(files: Readonly<Record<string, string | Uint8Array>>) {
  const folder = temporaryFolder()
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text, { mode: 0o600 })
  }
  return (name: string): string => join(folder, name)
}

const linesOf = (path: string): readonly string[] =>
  readFileSync(path, 'utf8').trim().split('\n').slice(1)

const total = async (query: string): Promise<number> => {
  const page = await vault.client().tokens.searchPage({ query, size: 1 })
  return page.pagination.total_items
}

describe('a messy CSV', () => {
  const csv = makeMessyCsv(3_000)
  const { good, badLines, blankCount } = csv

  test('is checked whole by --dry-run, which stores nothing', async () => {
    const at = makeFiles({ 'rows.csv': csv.text, 'map.json': messyMap(true) })
    const words = [at('rows.csv'), '--map', at('map.json'), '--report', at('rejects.csv')]
    const before = await total('type:card')
    const { exitCode, stdout } = await run([...words, '--dry-run', '--json'])
    expect(JSON.parse(stdout)).toEqual({
      dry_run: true,
      created: good.size,
      equal: 0,
      rejected: badLines.length,
      blank: blankCount,
      done_before: 0,
    })
    expect(exitCode).toBe(1)
    expect(linesOf(at('rejects.csv')).map(line => Number(line.split(',')[0]))).toEqual([
      ...badLines,
    ])
    expect(await total('type:card')).toBe(before)
    expect(existsSync(at('rows.csv.import'))).toBe(false)
  })

  test('becomes tokens, with each rejected line by its number and why, and no value', async () => {
    const at = makeFiles({ 'rows.csv': csv.text, 'map.json': messyMap(true) })
    const words = [at('rows.csv'), '--map', at('map.json'), '--report', at('rejects.csv')]
    const before = await total('type:card')
    const { exitCode, stderr, stdout } = await run([...words, '--ids', at('ids.csv')])
    expect([exitCode, stdout.split('\n')[0]]).toEqual([1, `${good.size} tokens were created.`])
    expect(await total('type:card')).toBe(before + good.size)
    expect(linesOf(at('ids.csv')).map(line => line.split(',')[1])).toEqual([...good.keys()])
    const report = readFileSync(at('rejects.csv'), 'utf8')
    expect(linesOf(at('rejects.csv'))).toHaveLength(badLines.length)
    expect(report).toContain('\n3,"data.number: expected a card number: its check digit is wrong')
    expect(report).toContain('\n4,"expected 4 columns, got 2"\n')
    const state = readFileSync(at('rows.csv.import'), 'utf8')
    for (const told of [report, stderr, stdout, state]) {
      for (const value of ['424242', 'wrong digit', 'never closed', 'Müller']) {
        expect(told).not.toContain(value)
      }
    }
    const [[customer, { number, name }] = ['', { number: '', name: '' }]] = [...good].slice(4, 5)
    expect(await vault.client().tokens.get(customer)).toMatchObject({
      data: { number, holder: name, expiration_month: 12 },
      metadata: { customer },
    })
  })

  test('that is ended by force again and again is in once after it went on', async () => {
    const before = await total('type:card')
    const at = makeFiles({ 'rows.csv': csv.text, 'map.json': messyMap(false) })
    const words = [at('rows.csv'), '--map', at('map.json'), '--report', at('r.csv')]
    const all = ['token', 'import', ...words, '--ids', at('ids.csv'), '--json']
    const state = at('rows.csv.import')
    for (let seen = ''; !seen.includes('"isDone":true');) {
      const resume = seen === '' ? [] : ['--resume']
      const child = Bun.spawn([...cofferCommand, ...all, ...resume], {
        env: { ...process.env, ...env() },
        stdout: 'ignore',
        stderr: 'ignore',
      })
      // Killed once it has moved on by a batch, and wherever it is after that.
      const next = () => (existsSync(state) ? readFileSync(state, 'utf8') : '')
      while (next() === seen && child.exitCode === null) await Bun.sleep(2)
      const moved = next()
      while (next() === moved && child.exitCode === null) await Bun.sleep(2)
      child.kill('SIGKILL')
      await child.exited
      seen = next()
    }
    expect(await total('type:card')).toBe(before + good.size)
    expect(linesOf(at('r.csv')).map(line => Number(line.split(',')[0]))).toEqual([...badLines])
    const ids = linesOf(at('ids.csv')).map(line => line.split(',')[1])
    expect(new Set(ids).size).toBe(good.size)
    const again = await run([...words, '--resume', '--json'])
    expect(JSON.parse(again.stdout)).toMatchObject({ created: good.size })
    expect(await total('type:card')).toBe(before + good.size)
  })
})

describe('an import goes on', () => {
  const rows = [1, 2, 3].map(n => `{"type":"token","data":${n}}\n`).join('')

  test('with the input, the map and the application that it began with alone', async () => {
    const at = makeFiles({ 'rows.jsonl': rows })
    expect((await run([at('rows.jsonl')])).exitCode).toBe(0)
    const whole = await run([at('rows.jsonl'), '--resume', '--json'])
    expect([whole.exitCode, JSON.parse(whole.stdout)]).toMatchObject([0, { created: 3 }])
    const twice = await run([at('rows.jsonl')])
    expect([twice.exitCode, twice.stderr]).toEqual([2, expect.stringContaining('is done')])
    const state = JSON.parse(readFileSync(at('rows.jsonl.import'), 'utf8')) as object
    const put = (changes: object) =>
      writeFileSync(at('rows.jsonl.import'), JSON.stringify({ ...state, ...changes }))
    put({ isDone: false })
    const other = await vault.application({ type: 'private', permissions: ['token:create'] })
    const foreign = await run([at('rows.jsonl'), '--resume'], '', other.key)
    expect(foreign.stderr).toContain('a key of the application that began')
    expect((await run([at('rows.jsonl'), '--resume', '--codes'])).stderr).toContain('an option')
    writeFileSync(at('rows.jsonl'), rows.replace('1', '9'))
    expect((await run([at('rows.jsonl'), '--resume'])).stderr).toContain(
      'resume with the same file',
    )
    put({})
    const changed = await run([at('rows.jsonl'), '--resume'])
    expect([changed.exitCode, changed.stdout]).toEqual([2, ''])
    expect(changed.stderr).toContain('resume with the same file')
    writeFileSync(at('rows.jsonl'), `${rows}{"type":"token","data":4}\n`)
    const longer = await run([at('rows.jsonl'), '--resume'])
    expect([longer.exitCode, longer.stdout]).toEqual([2, ''])
    expect(longer.stderr).toContain('has more rows: import them as another file')
    writeFileSync(at('rows.jsonl'), rows)
    put({ isDone: false, writtenMs: 0, isPending: true })
    const late = await run([at('rows.jsonl'), '--resume'])
    expect([late.exitCode, late.stderr]).toEqual([1, expect.stringContaining('behind line 3')])
    expect((await run([at('none.jsonl'), '--resume'])).exitCode).toBe(2)
  })
})

describe('lines of JSON', () => {
  test('keep the texts of numbers, the order of members, and expressions', async () => {
    const data = '{"9":1.0,"2":12345678901234567890,"1":-0}'
    const mask = `{"a":"{{ data['9'] | last4 }}"}`
    const more = `"mask":${mask},"search_indexes":["{{ data['2'] }}"],"created_at":"2020-01-01"`
    const words = ['-', '--format', 'jsonl', '--state', join(temporaryFolder(), 's')]
    const line = `{"id":"exact","type":"token","data":${data},${more}}`
    const { exitCode, stderr } = await run(words, line)
    expect([exitCode, stderr]).toEqual([0, ''])
    const response = await fetch(`${vault.address}/tokens/exact`, {
      headers: { 'svc-api-key': vault.keys.private },
    })
    const text = await response.text()
    expect(text).toContain(`"data":${data}`)
    expect(text).toContain('"search_indexes":["{{ data[\'2\'] }}"]')
  })

  test('are told which are no token, hold a code, or would be evaluated', async () => {
    const rows = [
      'not json 4242424242424242',
      '[1]',
      '{"type":"cards","data":{"number":"4242424242424242"}}',
      '{"type":"token"}',
      '{"type":"card","data":{"number":"4242424242424242","cvc":"123"}}',
      '{"id":"{{ data }}","type":"token","data":"4242424242424242"}',
      '{"id":"a#b","type":"token","data":1}',
      '{"id":"same-id","type":"token","data":1}',
      '{"id":"same-id","type":"token","data":2}',
      `{"type":"token","data":${'['.repeat(70)}${']'.repeat(70)}}`,
    ]
    const bad = new TextEncoder().encode(`${rows.join('\n')}\n`)
    const at = makeFiles({ 'x.jsonl': Buffer.concat([bad, Buffer.from([0x22, 0xff, 0x22])]) })
    const before = await total('type:token')
    const { stderr, exitCode } = await run([at('x.jsonl'), '--report', at('r.csv')])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('10 rows were rejected')])
    expect(await total('type:token')).toBe(before + 1)
    const report = readFileSync(at('r.csv'), 'utf8')
    expect(linesOf(at('r.csv')).map(line => line.split(',')[0])).toEqual(
      '1 2 3 4 5 6 7 9 10 11'.split(' '),
    )
    for (const word of [
      'type: expected one of token, card',
      'data: expected some',
      '--codes',
      'UTF-8',
    ]) {
      expect(report).toContain(word)
    }
    expect(report).not.toContain('4242')
  })
})

describe('a file that cannot be imported', () => {
  const csv = 'a,b,b\n1,2,3\n'
  const map = (name: string) => JSON.stringify({ type: 'token', data: `{{ data["${name}"] }}` })

  test('is refused before anything is sent', async () => {
    const at = makeFiles({
      'x.csv': csv,
      'x.txt': csv,
      'none.csv': '\n\n',
      'missing.json': map('customer'),
      'twice.json': map('b'),
      'unknown.json': '{"type":"token","data":1,"tpye":2}',
      'random.json': '{"type":"token","data":"{{ data.a | alias_preserve_length }}"}',
    })
    const failure = async (...words: string[]) => {
      const { exitCode, stderr } = await run(words)
      return [exitCode, stderr]
    }
    const says = (text: string) => [2, expect.stringContaining(text)]
    expect(await failure(at('x.csv'))).toEqual(says('--map: expected a file'))
    expect(await failure(at('x.txt'))).toEqual(says('--format: expected csv or jsonl'))
    const withMap = (file: string, name: string) => failure(at(file), '--map', at(name))
    expect(await withMap('x.csv', 'missing.json')).toEqual(says('no column is called "customer"'))
    expect(await withMap('x.csv', 'twice.json')).toEqual(says('2 columns are called "b"'))
    expect(await withMap('x.csv', 'unknown.json')).toEqual(says('member 3 is unknown'))
    expect(await withMap('x.csv', 'random.json')).toEqual(says('the map: data'))
    expect(await withMap('none.csv', 'missing.json')).toEqual(says('expected a header'))
    const report = await failure(at('x.csv'), '--map', at('twice.json'), '--report', at('x.txt'))
    expect(report).toEqual(says('is no report of an import'))
    expect(readFileSync(at('x.txt'), 'utf8')).toBe(csv)
  })

  test('is told where others may read it, in whatever encoding it is', async () => {
    const at = makeFiles({ 'map.json': map('Größe') })
    const text = 'Größe\nMüller\n'
    writeFileSync(at('utf16.csv'), Buffer.from(`\ufeff${text}`, 'utf16le'), { mode: 0o644 })
    writeFileSync(at('latin.csv'), Buffer.from(text, 'latin1'), { mode: 0o600 })
    const wide = await run([at('utf16.csv'), '--map', at('map.json'), '--json'])
    expect(wide.stderr).toContain('others on this machine may read')
    expect(JSON.parse(wide.stdout)).toMatchObject({ created: 1, rejected: 0 })
    const narrow = await run([at('latin.csv'), '--map', at('map.json')])
    expect(narrow.stderr).toContain('--encoding windows-1252')
    const words = [at('latin.csv'), '--map', at('map.json'), '--encoding', 'windows-1252']
    expect((await run([...words, '--json'])).exitCode).toBe(0)
  })
})
