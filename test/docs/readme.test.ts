/**
 * The README's example, run as it is written, against a throw-away vault.
 * @module
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const readme = readFileSync(resolve(import.meta.dir, '../../README.md'), 'utf8')

/** Each curl of the README with the answer that is shown below it. */
const examples = [...readme.matchAll(/```sh\n(curl [^`]+)```\n\n```json\n([^`]+)```/g)].map(
  ([, command, answer]) => [command ?? '', answer ?? ''] as const,
)

/** What differs from run to run is only compared by being there. */
const varying = ['tenant_id', 'fingerprint', 'created_by', 'created_at', 'instance']

const comparable = (json: string) =>
  JSON.parse(json, (name, value: unknown) => (varying.includes(name) ? typeof value : value))

let server: Running
let made: Record<string, string>

beforeAll(async () => {
  server = await startCoffer(['dev', '--port', '0', '--json'])
  made = JSON.parse(server.ready) as Record<string, string>
})

afterAll(async () => {
  await server.end('SIGTERM')
})

/** Runs a curl of the README against the throw-away vault. */
function run(command: string): string {
  const script = command.replaceAll('http://127.0.0.1:3333', made['base_url'] ?? '')
  const keys = { PUBLIC_KEY: made['public_key'], PRIVATE_KEY: made['private_key'] }
  const env = { PATH: process.env['PATH'], ...keys }
  return Bun.spawnSync(['sh', '-c', script], { env }).stdout.toString()
}

test('the example of the README stores, masks, reveals and refuses as it shows', () => {
  const cardNumber = '4242424242424242'
  expect(examples.length).toBe(3)
  // One after the other: what the first one stores, the second one reads.
  for (const [command, shown] of examples) {
    const answer = run(command)
    expect(comparable(answer)).toEqual(comparable(shown))
    expect(answer.includes(cardNumber)).toBe(shown.includes(cardNumber))
  }
})

/** The arguments of each command of the binary, without its comment. */
const commands = [...readme.matchAll(/^dist\/coffer ([^#\n]+)/gm)].map(([, text = '']) =>
  text.trim().split(/ +/),
)

test('the commands of the README do on a new folder what they are for', async () => {
  const folder = join(temporaryFolder(), 'vault')
  const ending = commands.filter(([name]) => name !== 'serve')
  expect(ending.map(([name]) => name)).toEqual(['init', 'doctor', 'verify', 'compact', 'app'])
  for (const args of ending) {
    const { exitCode, stderr } = await runCoffer(args.map(arg => (arg === 'vault' ? folder : arg)))
    expect([args[0], exitCode, stderr]).toEqual([args[0], 0, ''])
  }
})
