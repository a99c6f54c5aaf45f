/**
 * Lines of a serving process about its start, its end and its states, on each of its streams.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../package.json' with { type: 'json' }
import { formatVersion } from '../../src/server/folder/folder-stamp.ts'
import { mountDisk, type Disk } from '../crash/disk-full/disk.ts'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { eventsIn, makeLogFile, startLogged, type Line } from '../support/logged.ts'
import { until } from '../support/until.ts'

const json = ['--log-format', 'json']
const isRoot = process.getuid?.() === 0

let data: string
let masterKey: string
beforeAll(async () => {
  const folder = temporaryFolder()
  data = join(folder, 'vault')
  masterKey = join(folder, 'master.key')
  await runCoffer(['init', '--data', data, '--master-key-file', masterKey])
})

const serving = (...more: readonly string[]): readonly string[] => [
  'serve',
  '--data',
  data,
  '--master-key-file',
  masterKey,
  '--port',
  '0',
  ...more,
]

const parse = (text: string): readonly Line[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line) as Line)

const byEvent = (lines: readonly Line[], event: string): readonly Line[] =>
  lines.filter(line => line['event'] === event)

describe('a start and an end', () => {
  test.each([1, 3])('are logged once, with %d processes', async workers => {
    const more = ['--workers', String(workers), '--ops-port', '0', '--keep-alive-seconds', '20']
    const server = await startCoffer(serving(...json, ...more))
    const [listening, ...others] = parse(server.ready)
    expect(others).toEqual([])
    expect(listening).toMatchObject({ level: 'info', event: 'listening' })
    expect(await server.end('SIGINT')).toBe(0)
    expect(await server.stdout).toBe('')
    const lines = parse(await server.stderr)
    const [, build] = (await runCoffer(['--version'])).stdout.trim().split('+')
    const { address, ops_address } = listening ?? {}
    expect(byEvent(lines, 'started')).toEqual([
      {
        time: expect.any(String),
        level: 'info',
        event: 'started',
        version,
        build,
        format: formatVersion,
        process_id: server.pid,
        workers,
        address,
        ops_address,
        key_source: '--master-key-file',
        rows: expect.any(Number),
        settings: expect.stringMatching(/(?:^| )keep_alive_seconds=20(?: |$)/),
      },
    ])
    expect(String(lines.find(({ event }) => event === 'started')?.['settings'])).not.toMatch(
      /base_path|log_level/,
    )
    expect(String(address)).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const ends = lines.filter(({ event }) => String(event).startsWith('stop'))
    expect(ends).toEqual([
      { time: expect.any(String), level: 'info', event: 'stopping', signal: 'SIGINT' },
      { time: expect.any(String), level: 'info', event: 'stopped' },
    ])
    expect(lines.at(-1)).toBe(ends[1])
    const names = [listening, ...lines].flatMap(line => Object.keys(line ?? {}))
    expect(names.filter(name => !/^[a-z]+(?:_[a-z]+)*$/.test(name))).toEqual([])
    const page = readFileSync(join(import.meta.dir, '../../docs/operations.md'), 'utf8')
    const [started = {}] = byEvent(lines, 'started')
    expect(Object.keys(started).filter(name => !page.includes(`\`${name}\``))).toEqual([])
  })

  test('of a sealed vault have no rows, and the key comes in shares', async () => {
    const server = await startCoffer(['serve', '--data', data, '--port', '0', '--sealed', ...json])
    expect(await server.end('SIGTERM')).toBe(0)
    const [started] = byEvent(parse(await server.stderr), 'started')
    expect(started).toMatchObject({ key_source: 'shares' })
    expect(started).not.toHaveProperty('rows')
  })

  test('hold no key that came with the environment', async () => {
    const env = { COFFER_MASTER_KEY: 'ab'.repeat(32) }
    const words = ['--data', join(temporaryFolder(), 'v')]
    expect(await runCoffer(['init', ...words], { env })).toMatchObject({ exitCode: 0 })
    const server = await startCoffer(['serve', ...words, '--port', '0', ...json], { env })
    expect(await server.end('SIGTERM')).toBe(0)
    const [started] = byEvent(parse(await server.stderr), 'started')
    expect(started).toMatchObject({ key_source: 'COFFER_MASTER_KEY' })
    expect(await server.stderr).not.toContain('abab')
  })

  test('are told to a person as before, where no JSON is asked for', async () => {
    const server = await startCoffer(serving())
    expect(server.ready).toMatch(/^Coffer listens on http:\S+\n$/)
    expect(await server.end('SIGTERM')).toBe(0)
  })
})

describe('where JSON is asked for', () => {
  test('a first start says all in it, and shows a new key once', async () => {
    const folder = temporaryFolder()
    const words = ['--data', join(folder, 'v'), '--master-key-file', join(folder, 'key')]
    const init = ['serve', '--init', ...words, '--port', '0', ...json]
    const { server, lines } = await startLogged(init)
    await until(() => eventsIn(lines(), 'started').length > 0)
    expect(await server.end('SIGTERM')).toBe(0)
    const [made, listening] = parse(server.ready + (await server.stdout))
    expect(Object.keys(made ?? {})).toEqual(['tenant_id', 'application_id', 'key'])
    expect(listening).toMatchObject({ event: 'listening' })
    expect(eventsIn(lines(), 'started', 'stopped')).toEqual(['started', 'stopped'])
    expect(JSON.stringify(lines())).not.toContain(String(made?.['key']))
  })

  test.each([
    ['an option', ['--data', '/nowhere', ...json], {}, 1],
    ['an option in one word', ['--data', '/nowhere', '--log-format=json'], {}, 1],
    ['a variable', ['--data', '/nowhere'], { COFFER_LOG_FORMAT: 'json' }, 1],
    ['a wrong setting', ['--data', '/nowhere', '--port', 'x', ...json], {}, 2],
    ['an option that is none', ['--data', '/nowhere', '--no-such', ...json], {}, 2],
  ])('a failure is in it: %s', async (_, words, env, exitCode) => {
    const ended = await runCoffer(['serve', ...words], { env })
    expect([ended.exitCode, ended.stdout]).toEqual([exitCode, ''])
    const [line, ...others] = parse(ended.stderr)
    expect(others).toEqual([])
    const told = { event: 'failed', level: 'error', exit_code: exitCode }
    expect(line).toMatchObject({ ...told, text: expect.any(String) })
  })

  test('a failure is in it where the file of settings asks for it', async () => {
    const config = join(temporaryFolder(), 'config.json')
    writeFileSync(config, '{"log_format": "json"}')
    const ended = await runCoffer(['serve', '--data', '/nowhere', '--config', config])
    expect(parse(ended.stderr)).toMatchObject([{ event: 'failed', exit_code: 1 }])
  })

  test('a throw-away vault says where it is in it', async () => {
    const server = await startCoffer(['dev', '--port', '0', ...json])
    expect(parse(server.ready)).toMatchObject([{ base_url: expect.any(String) }])
    expect(await server.end('SIGTERM')).toBe(0)
    expect(await server.stdout).toBe('')
  })
})

test('a failure is text for a person in every other case', async () => {
  const ended = await runCoffer(['serve', '--data', '/nowhere'])
  expect(ended.stderr).toMatch(/^coffer: [^\n]+\n$/)
  const text = ['serve', '--data', '/nowhere', '--log-format', 'text']
  const asked = await runCoffer(text, { env: { COFFER_LOG_FORMAT: 'json' } })
  expect(asked.stderr).toMatch(/^coffer: [^\n]+\n$/)
})

describe('priorities', () => {
  test('stand before each line, of workers and of requests too, in the journal', async () => {
    const file = makeLogFile()
    const env = { JOURNAL_STREAM: file.stream }
    const words = serving('--workers', '3', '--log-requests', 'all')
    const server = await startCoffer(words, { env, prefix: file.prefix })
    await fetch(`${server.ready.trim().split(' ').at(-1)}/applications/key`)
    expect(await server.end('SIGTERM')).toBe(0)
    const lines = file.text().trimEnd().split('\n')
    const levels: Readonly<Record<string, string>> = { info: '<6>', warning: '<4>', error: '<3>' }
    const events = lines.map(line => {
      const { level, event } = JSON.parse(line.slice(3)) as { level: string; event: string }
      expect(line.slice(0, 3)).toBe(levels[level] ?? '')
      return event
    })
    for (const event of ['started', 'request', 'stopped']) expect(events).toContain(event)
  })

  test('stand before a failure there', async () => {
    const file = makeLogFile()
    const env = { JOURNAL_STREAM: file.stream }
    await runCoffer(['status', '--data', '/nowhere'], { env, prefix: file.prefix })
    expect(file.text()).toMatch(/^<3>coffer: [^\n]+\n$/)
  })

  test('stand before a failure of a throw-away vault where they are asked for', async () => {
    const taken = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
    const words = ['dev', '--port', String(taken.port), '--log-priority', 'on']
    const ended = await runCoffer(words)
    await taken.stop(true)
    expect(ended.stderr).toMatch(/^<3>coffer: [^\n]+\n$/)
  })

  test('stand nowhere else, unless they are asked for', async () => {
    const env = { JOURNAL_STREAM: makeLogFile().stream }
    const ended = await runCoffer(['serve', '--data', '/nowhere'], { env })
    expect(ended.stderr).toStartWith('coffer: ')
    const file = makeLogFile()
    const isOff = { env: { JOURNAL_STREAM: file.stream }, prefix: file.prefix }
    const off = await startCoffer(serving('--log-priority', 'off'), isOff)
    await off.end('SIGTERM')
    expect(file.lines().length).toBeGreaterThan(1)
    const on = await startCoffer(serving('--log-priority', 'on', '--log-format', 'text'))
    await on.end('SIGTERM')
    const lines = (await on.stderr).trimEnd().split('\n')
    expect(lines.filter(line => !/^<[346]>\d{4}-/.test(line))).toEqual([])
  })
})

function tryDisk(): Disk | undefined {
  try {
    return mountDisk('tmpfs', temporaryFolder())
  } catch {
    // A machine that lets nobody mount has the same states in the crash campaign.
    return undefined
  }
}

test.skipIf(!isRoot).each([1, 3])(
  'a disk that is full, and free again, is logged once each with %d processes',
  async workers => {
    const disk = tryDisk()
    if (disk === undefined) return
    try {
      const vault = join(disk.path, 'vault')
      await runCoffer(['init', '--data', vault])
      const words = ['serve', '--data', vault, '--port', '0', '--workers', String(workers)]
      const { server, lines } = await startLogged(words)
      const states = () => eventsIn(lines(), 'disk_full', 'disk_free')
      disk.fillTo(1024 * 1024)
      await until(() => states().length > 0)
      expect(byEvent(lines(), 'disk_full')).toMatchObject([{ level: 'error' }])
      disk.free()
      await until(() => states().length > 1)
      expect(byEvent(lines(), 'disk_free')).toMatchObject([{ level: 'info' }])
      expect(await server.end('SIGTERM')).toBe(0)
      expect(states()).toEqual(['disk_full', 'disk_free'])
    } finally {
      disk.unmount()
    }
  },
)
