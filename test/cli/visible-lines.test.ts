/**
 * Lines of commands that show texts of others: paths, contents of files, answers of services. None
 * moves the cursor of a terminal, forges a line or turns the order of letters.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeLog } from '../../src/server/watch/log.ts'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const evil = 'a\u001b]0;title\u0007\u009b2J\u202e\u2028\u007f'
const told = String.raw`a\u001b]0;title\u0007\u009b2J\u202e\u2028\u007f`
const unseen = /[^\P{C}\n]|[\p{Zl}\p{Zp}]/u

let root: string
let made: string
let count = 0

beforeAll(async () => {
  root = temporaryFolder()
  made = join(root, 'made')
  expect((await runCoffer(['init', '--data', made])).exitCode).toBe(0)
})

function copyOfMade(name = `vault-${(count += 1)}`): string {
  const data = join(root, name)
  cpSync(made, data, { recursive: true })
  return data
}

/** Forges the leftover copy of a killed command, as a user who may write to the folder can. */
function noteOf(data: string): string {
  const copy = join(root, `${evil}-${(count += 1)}.partial`)
  mkdirSync(copy)
  writeFileSync(join(copy, 'coffer.staging'), '')
  writeFileSync(join(data, 'copy-0123456789abcdef'), `${copy}\n`)
  return copy
}

// proves E26.4
test('the path of a note of a copy is told by its escapes, and as JSON as it is', async () => {
  const data = copyOfMade()
  const copy = noteOf(data)
  const looked = await runCoffer(['doctor', '--data', data, '--port', '0'])
  expect(looked.stdout).toContain(
    `${join(root, told)}-${count}.partial is a copy that a command has left`,
  )
  expect(looked.stdout).not.toMatch(unseen)
  const { stdout } = await runCoffer(['doctor', '--data', data, '--port', '0', '--json'])
  expect(stdout).not.toMatch(unseen)
  const { findings } = JSON.parse(stdout) as { findings: { text: string }[] }
  expect(findings.some(({ text }) => text.startsWith(`${copy} is a copy`))).toBe(true)
  const compacted = await runCoffer(['compact', '--data', data])
  expect(compacted.stdout).toContain(`looked at ${join(root, told)}-${count}.partial: removed`)
  expect(compacted.stdout).not.toMatch(unseen)
})

test('so are paths of commands that succeed, one line each', async () => {
  const data = join(root, `new${evil}\nTenant: mine`)
  const { stdout, exitCode } = await runCoffer(['init', '--data', data])
  expect(exitCode).toBe(0)
  expect(stdout).toStartWith(`The vault is in ${join(root, `new${told}`)}\\u000aTenant: mine.\n`)
  expect(stdout).not.toMatch(unseen)
  const to = join(root, `${evil}.backup`)
  const backup = await runCoffer(['backup', '--data', data, '--to', to])
  expect([backup.exitCode, backup.stdout.includes(`read back: ${join(root, told)}`)]).toEqual([
    0,
    true,
  ])
  expect(backup.stdout + backup.stderr).not.toMatch(unseen)
})

const failing: readonly [string, (data: string) => readonly string[]][] = [
  ['a folder that is none', () => ['status', '--data', join(root, `none${evil}\nx`)]],
  [
    'a file that is none',
    data => ['restore', join(root, `${evil}\nx`), '--keep-keys', '--data', `${data}-new`],
  ],
  [
    'a key file in the way',
    data => ['app', 'create', '--data', data, '--key-file', join(root, 'none', evil)],
  ],
  ['a command', () => [`${evil}\nx`]],
  ['an option', () => ['serve', `--${evil}`]],
]

// proves E26.4
test.each(failing)('a failure that names %s is one line without them', async (_, wordsOf) => {
  const { stderr, stdout } = await runCoffer(wordsOf(copyOfMade()))
  expect(stderr + stdout).not.toMatch(unseen)
  expect(stderr.split('\n')).toHaveLength(2)
  expect(stderr).toContain(told)
})

// proves E26.4
test.each(['json', 'text'] as const)(
  'an event in the log, as %s, is one line without them',
  form => {
    const lines: string[] = []
    const place = {
      wallMs: () => 0,
      isTerminal: false,
      isJournal: false,
      write: (line: string) => lines.push(line),
    }
    const log = makeLog({ logLevel: 'info', logPriority: 'off', logFormat: form }, place)
    log('backup_failed', { reason: `${evil}\nx` })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(String.raw`${told}\nx`)
    expect(lines[0]?.slice(0, -1)).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
  },
)

test('an answer on rows and tokens is told by its escapes, in a report too', async () => {
  const problem = { status: 400, title: evil, detail: `${evil}\nx`, errors: { data: [evil] } }
  const application = { id: 'app', permissions: ['token:update'], rules: [] }
  const listed = { pagination: { total_items: 1 }, data: [{ id: 'abc', search_indexes: [] }] }
  const vault = Bun.serve({
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/applications/key') return Response.json(application)
      if (pathname.endsWith('/tokens/search')) return Response.json(listed)
      if (pathname !== '/tokenize') return Response.json(problem, { status: 400 })
      return Response.json({ results: [{ index: 0, path: '[0]', status: 400, error: problem }] })
    },
  })
  const env = { COFFER_ADDR: vault.url.href, COFFER_KEY: 'key_1111111111111111111111' }
  const file = join(root, 'rows.jsonl')
  writeFileSync(file, '{"type":"token","data":"one"}\n', { mode: 0o600 })
  const report = ['--report', join(root, 'report.csv')]
  for (const words of [
    ['import', file],
    ['import', file, ...report, '--state', `${file}.2`],
  ]) {
    const { stderr, stdout } = await runCoffer(['token', ...words], { env })
    const where = words.length > 2 ? readFileSync(join(root, 'report.csv'), 'utf8') : stderr
    expect(where).toContain(`data: ${told}`)
    expect(where + stderr + stdout).not.toMatch(unseen)
  }
  const words = ['token', 'reindex', '--where', '*', '--index', '{{ data }}']
  const { stderr, stdout } = await runCoffer(words, { env })
  expect(stderr).toContain(`1 token was refused, such as abc: ${told}`)
  expect(stderr + stdout).not.toMatch(unseen)
  await vault.stop()
})
