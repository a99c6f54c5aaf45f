/**
 * The README's example, run as it is written, against a throw-away vault.
 * @module
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packages } from '../../scripts/pack/packages.ts'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const readme = readFileSync(resolve(import.meta.dir, '../../README.md'), 'utf8')

/** Each block of commands of the README with the part of its answer that is shown below it. */
const examples = [...readme.matchAll(/```sh\n([^`]+)```\n\n```json\n([^`]+)```/g)].map(
  ([, commands, answer]) => [commands ?? '', JSON.parse(answer ?? '') as object] as const,
)

let server: Running
let made: Record<string, string>

beforeAll(async () => {
  server = await startCoffer(['dev', '--port', '0', '--json'])
  made = JSON.parse(server.ready) as Record<string, string>
})

afterAll(async () => {
  await server.end('SIGTERM')
})

const separator = '----'

/**
 * Runs blocks in one shell, as a reader does: what one writes ends before the prompt of the next.
 * @returns the last line that each wrote
 */
function run(blocks: readonly string[]): readonly string[] {
  const script = blocks.map(block => `${block}\necho ${separator}`).join('\n')
  const env = {
    PATH: process.env['PATH'],
    VAULT: made['base_url'],
    JSON: 'Content-Type: application/json',
    MANAGEMENT_KEY: made['management_key'],
    PUBLIC_KEY: made['public_key'],
    PRIVATE_KEY: made['private_key'],
  }
  const { stdout } = Bun.spawnSync(['sh', '-c', script], { env })
  const answers = stdout.toString().split(`${separator}\n`).slice(0, -1)
  return answers.map(answer => answer.trim().split('\n').at(-1) ?? '')
}

test('the example of the README stores, masks, reveals and refuses as it shows', () => {
  const cardNumber = '4242424242424242'
  expect(examples.length).toBe(6)
  const answers = run(examples.map(([commands]) => commands))
  for (const [at, [, shown]] of examples.entries()) {
    const answer = answers[at] ?? ''
    expect(JSON.parse(answer)).toMatchObject(shown)
    expect(answer.includes(cardNumber)).toBe(JSON.stringify(shown).includes(cardNumber))
  }
})

test('the example of the README gives the variables that its commands use', () => {
  const given = new Set([...readme.matchAll(/(?:export |^| )([A-Z_]+)=/gm)].map(([, name]) => name))
  const used = examples.flatMap(([commands]) => [...commands.matchAll(/\$([A-Z_]+)/g)])
  expect(used.map(([, name]) => name).filter(name => !given.has(name))).toEqual([])
})

/** The arguments of each command of the binary, without its comment. */
const commands = [...readme.matchAll(/^dist\/coffer ([^#\n]+)/gm)].map(([, text = '']) =>
  text.trim().split(/ +/),
)

test('the commands of the README do on a new folder what they are for', async () => {
  const folder = join(temporaryFolder(), 'vault')
  const ending = commands.filter(([name]) => name !== 'serve')
  expect(ending.map(([name]) => name)).toEqual(['init', 'doctor', 'backup'])
  for (const args of ending) {
    const places: Record<string, string> = { vault: folder, 'one.bak': `${folder}.bak` }
    const { exitCode, stderr } = await runCoffer(args.map(arg => places[arg] ?? arg))
    expect([args[0], exitCode, stderr]).toEqual([args[0], 0, ''])
  }
})

test('the list of tasks leads to every page, and to nothing that is not there', () => {
  const docs = resolve(import.meta.dir, '../../docs')
  const text = readFileSync(join(docs, 'README.md'), 'utf8')
  const linked = [...text.matchAll(/\]\(([^)#]+)/g)].map(([, path = '']) => path)
  expect(linked.filter(path => !existsSync(join(docs, path)))).toEqual([])
  const pages = readdirSync(docs).filter(name => name.endsWith('.md') && name !== 'README.md')
  expect(pages.filter(name => !linked.includes(name))).toEqual([])
})

test.each([
  ['@coffer/client', 'docs/client.md'],
  ['@coffer/elements', 'docs/elements.md'],
])('tells the size of %s that its package is held to, as its page does', (name, page) => {
  const limit = packages.find(each => each.name === name)?.bytesMax ?? 0
  const told = `under ${limit / 1_000} KB`
  const row = readme.split('\n').find(line => line.includes(`\`${name}\``))
  expect(row).toContain(told)
  expect(readFileSync(resolve(import.meta.dir, '../..', page), 'utf8')).toContain(told)
})
