/**
 * `docs/client.md`: its program prints what stands behind each line, and its table has the codes.
 * @module
 */
import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startVault } from '../../src/testing/index.ts'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { blocksOf, makeApplication, printedBy, readPage, runIn } from '../support/page.ts'

const page = readPage('docs/client.md')
const blocks = blocksOf(page, 'ts')
const ofSocket = blocks.filter(block => block.includes('overSocket'))
const program = blocks.filter(block => !ofSocket.includes(block)).join('\n')

async function run(code: string, env: Readonly<Record<string, string>>): Promise<string> {
  const folder = makeApplication()
  writeFileSync(join(folder, 'page.ts'), code)
  const { stdout, stderr } = await runIn(folder, [process.execPath, 'page.ts'], env)
  return stdout + stderr
}

test('the program of docs/client.md prints what it says', async () => {
  await using vault = await startVault()
  const printed = await run(program, {
    VAULT_ADDRESS: vault.address,
    VAULT_KEY: vault.keys.private,
    PUBLIC_KEY: vault.keys.public,
    MANAGEMENT_KEY: vault.keys.management,
  })
  expect(printedBy(program).split('\n').length).toBeGreaterThan(12)
  expect(printed).toBe(printedBy(program))
})

test('the program over a socket prints what it says', async () => {
  const [code = '', ...others] = ofSocket
  expect(others).toEqual([])
  const folder = temporaryFolder()
  const data = join(folder, 'vault')
  const socket = join(folder, 'vault.sock')
  const file = join(folder, 'key')
  await runCoffer(['init', '--data', data])
  const grants = ['--name', 'Shop', '--type', 'private', '--permission', 'token:read']
  await runCoffer(['app', 'create', '--data', data, ...grants, '--key-file', file])
  const server = await startCoffer(['serve', '--data', data, '--socket', socket])
  const printed = await run(code.replace('/run/coffer/coffer.sock', socket), {
    VAULT_KEY: readFileSync(file, 'utf8').trim(),
  })
  expect(printed).toBe(printedBy(code))
  await server.end('SIGTERM')
})

test('the programs of docs/client.md have the types that strict code asks for', async () => {
  const folder = makeApplication()
  for (const [at, code] of [program, ...ofSocket].entries()) {
    writeFileSync(join(folder, `page-${at}.ts`), code)
  }
  const of = { module: 'ESNext', moduleResolution: 'bundler', target: 'ESNext', lib: ['ESNext'] }
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true }
  const more = { types: ['bun-types'], noEmit: true, skipLibCheck: true }
  const compilerOptions = { ...of, ...strict, ...more, allowImportingTsExtensions: true }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  const tsc = resolve(import.meta.dir, '../../node_modules/.bin/tsc')
  const { exitCode, stdout } = await runIn(folder, [tsc, '--project', 'tsconfig.json'])
  expect([exitCode, stdout]).toEqual([0, ''])
}, 300_000)

test('the table of docs/client.md has each code, with its status', () => {
  const source = readPage('src/client/error.ts')
  const [, union = ''] = /type ErrorCode =\n([^]*?)\n\n/.exec(source) ?? []
  const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code = '']) => code)
  const statuses = new Map(
    [...source.matchAll(/^  (\d+): '(\w+)'/gm)].map(([, n, code]) => [code, n]),
  )
  const rows = [...page.matchAll(/^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \| ([\w, ]+) \|/gm)]
  const told = rows.flatMap(([, names = '', numbers = '']) => {
    const each = numbers.split(', ')
    return names.split(', ').map((name, at) => [name.replaceAll('`', ''), each[at]] as const)
  })
  expect(codes.length).toBeGreaterThan(15)
  expect(told.map(([code]) => code).toSorted()).toEqual(codes.toSorted())
  for (const [code, number] of told) {
    const status = statuses.get(code)
    if (status !== undefined) expect([code, number]).toEqual([code, status])
  }
})
