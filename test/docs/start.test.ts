/**
 * The pages that a reader starts with: their commands and programs, run as they stand but for the
 * port, print what the pages show.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../support/folders.ts'
import { findPort } from '../support/free-port.ts'
import { blocksOf, makeApplication, makePath, printedBy, readPage, runIn } from '../support/page.ts'

const card = '4242424242424242'

/** Runs each block by itself in one folder. @returns what each printed */
async function runBlocks(
  folder: string,
  blocks: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const env = { PATH: makePath(folder), TMPDIR: folder, ...more }
  const printed: string[] = []
  for (const block of blocks) {
    const { exitCode, stdout, stderr } = await runIn(folder, ['sh', '-ec', block], env)
    expect([block, exitCode, stderr]).toEqual([block, 0, ''])
    printed.push(stdout)
  }
  return printed
}

describe('docs/start-on-a-machine.md', () => {
  const page = readPage('docs/start-on-a-machine.md')

  test('makes a vault, serves it, stores a card and backs it up', async () => {
    const port = findPort()
    const blocks = blocksOf(page, 'sh').map(block => block.replaceAll('3333', String(port)))
    expect(blocks.map(block => block.split(' ')[1])).toEqual(['init', 'serve', '-s', 'backup'])
    const folder = temporaryFolder()
    // For `doctor`, which names no port: another vault of this machine may have the default one.
    const printed = await runBlocks(folder, blocks, { COFFER_PORT: String(port) })
    const [shown = ''] = blocksOf(page, 'json')
    const answer = printed[2] ?? ''
    expect(JSON.parse(answer)).toMatchObject(JSON.parse(shown) as object)
    expect(answer).not.toContain(card)
    for (const name of ['management.key', 'shop.key']) {
      expect(readFileSync(join(folder, name), 'utf8')).toStartWith('key_')
    }
  }, 300_000)
})

describe('docs/start-as-a-sidecar.md', () => {
  const page = readPage('docs/start-as-a-sidecar.md')

  test('serves a vault on a socket and stores a card, which the program reads', async () => {
    const [serve = '', store = '', ...others] = blocksOf(page, 'sh')
    const [program = '', ...more] = blocksOf(page, 'ts')
    expect([others, more]).toEqual([[], []])
    const folder = makeApplication()
    const [, stored = ''] = await runBlocks(folder, [serve, store.replace(/^kill .*$/m, '')])
    expect(JSON.parse(stored)).toMatchObject({ data: { number: 'XXXXXXXXXXXX4242' } })
    writeFileSync(join(folder, 'page.ts'), program)
    const env = { VAULT_KEY: readFileSync(join(folder, 'shop.key'), 'utf8').trim() }
    const { stdout, stderr } = await runIn(folder, [process.execPath, 'page.ts'], env)
    expect(stdout + stderr).toBe(printedBy(program))
    const [end = ''] = /^kill .*$/m.exec(store) ?? []
    expect((await runIn(folder, ['sh', '-ec', end])).exitCode).toBe(0)
  }, 300_000)
})

describe('docs/start-in-a-test.md', () => {
  test('has tests that pass', async () => {
    const [block = '', ...others] = blocksOf(readPage('docs/start-in-a-test.md'), 'ts')
    expect(others).toEqual([])
    const folder = makeApplication()
    writeFileSync(join(folder, 'page.test.ts'), block)
    const command = [process.execPath, 'test', '--timeout=300000', 'page.test.ts']
    const { exitCode, stderr } = await runIn(folder, command)
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining(' 2 pass')])
  })
})

describe.each(['docs/concepts.md', 'docs/search.md'])('%s', page => {
  test('has a program that prints what it says', async () => {
    const program = blocksOf(readPage(page), 'ts').join('\n')
    const folder = makeApplication()
    writeFileSync(join(folder, 'page.ts'), program)
    const { stdout, stderr } = await runIn(folder, [process.execPath, 'page.ts'])
    expect(stdout + stderr).toBe(printedBy(program))
    expect(stdout.split('\n').length).toBeGreaterThan(8)
  })
})
