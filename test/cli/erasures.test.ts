/**
 * The list of erasures: what `serve --erasure-log` writes of deletes before it answers them, what
 * becomes of a delete that cannot be listed, and what `restore --erase` makes of the list.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { parseErasure, printErasure, type Erasure } from '../../src/rules/erasures.ts'
import { findTracer } from '../crash/faults/trace-answers.ts'
import { runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { openConnection } from '../support/connection.ts'
import { temporaryFolder } from '../support/folders.ts'

const secret = 'planted-4e17c0'
const permissions = ['create', 'read', 'delete', 'update'].map(name => `token:${name}`)
const rule = { description: 'all', priority: 1, container: '/', transform: 'reveal', permissions }

let root: string
let data: string
let masterKey: string
let manager: { key: string; tenant_id: string }
let reader: string

interface Asked {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

type Ask = (method: string, path: string, body?: object, key?: string) => Promise<Asked>

const place = (folder: string): readonly string[] => [
  '--data',
  folder,
  '--master-key-file',
  masterKey,
]

const typeOf = (method: string): string =>
  method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'

/** Serves a folder while something is asked of it. */
async function beside<T>(
  folder: string,
  words: readonly string[],
  ask: (one: Ask, url: string) => Promise<T>,
  prefix: readonly string[] = [],
): Promise<{ readonly result: T; readonly logged: string }> {
  const server = await startCoffer(['serve', ...place(folder), '--port', '0', ...words], { prefix })
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? ''
  try {
    const result = await ask(async (method, path, body, key = reader) => {
      const answer = await fetch(url + path, {
        method,
        headers: { 'SVC-API-KEY': key, 'content-type': typeOf(method) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      return { status: answer.status, body: text === '' ? {} : JSON.parse(text) }
    }, url)
    expect(await server.end('SIGTERM')).toBe(0)
    return { result, logged: await server.stderr }
  } finally {
    await server.end('SIGKILL')
  }
}

const linesOf = (file: string): readonly (Erasure | undefined)[] =>
  readFileSync(file, 'utf8').split('\n').slice(0, -1).map(parseErasure)

const idsOf = (file: string): readonly (string | undefined)[] => linesOf(file).map(line => line?.id)

const make = async (ask: Ask, id: string): Promise<void> => {
  const { status } = await ask('POST', '/tokens', { id, type: 'token', data: secret })
  expect(status).toBe(201)
}

beforeAll(async () => {
  root = temporaryFolder()
  data = join(root, 'vault')
  masterKey = join(root, 'master.key')
  const made = await runCoffer(['init', ...place(data), '--json'])
  manager = JSON.parse(made.stdout) as typeof manager
  await beside(data, [], async ask => {
    const body = { name: 'reader', type: 'private', rules: [rule] }
    const { body: application } = await ask('POST', '/applications', body, manager.key)
    reader = String(application['key'])
  })
}, 60_000)

describe.each([
  ['one process', [] as string[]],
  ['three workers', ['--workers', '3']],
])('deletes by %s', (_, more) => {
  test('at once, over many connections, are listed before they are answered', async () => {
    const list = join(temporaryFolder(), 'erasures')
    const ids = Array.from({ length: 60 }, (_none, at) => `many-${more.length}-${at}`)
    const beforeMs = Date.now()
    await beside(data, ['--erasure-log', list, ...more], async (ask, url) => {
      for (const id of ids) await make(ask, id)
      const port = Number(new URL(url).port)
      const deletes = ids.map(async id => {
        const connection = await openConnection({ hostname: '127.0.0.1', port })
        const { status } = await connection.ask('DELETE', `/tokens/${id}`, { key: reader })
        // What was answered stands there already, whoever else is still being answered.
        expect([status, idsOf(list).includes(id)]).toEqual([204, true])
        connection.close()
      })
      await Promise.all(deletes)
    })
    expect([...idsOf(list)].toSorted()).toEqual(ids.toSorted())
    for (const line of linesOf(list)) {
      expect(line?.tenantId).toBe(manager.tenant_id)
      expect(line?.createdAtMs).toBeGreaterThanOrEqual(beforeMs - 1_000)
      expect(line?.erasedAtMs).toBeGreaterThanOrEqual(line?.createdAtMs ?? Infinity)
    }
    expect(statSync(list).mode & 0o777).toBe(0o600)
    const text = readFileSync(list, 'utf8')
    for (const value of [secret, reader, manager.key]) expect(text).not.toContain(value)
  }, 60_000)
})

const tracer = findTracer()
const syncMs = 300

// `.ci/run` installs strace, which may trace there.
test.skipIf(tracer !== undefined)(
  'a delete is answered once its line is on disk, and those at once are flushed together',
  async () => {
    const folder = temporaryFolder()
    const [list, trace] = [join(folder, 'erasures'), join(folder, 'trace')]
    const ids = Array.from({ length: 40 }, (_, at) => `flushed-${at}`)
    const prefix = ['strace', '-D', '-f', '-o', trace, '-e', 'trace=fsync']
    prefix.push('-e', `inject=fsync:delay_enter=${syncMs * 1_000}`)
    const ask = async (one: Ask) => {
      for (const id of ids) await make(one, id)
      const deletes = ids.map(async id => {
        const startedMs = performance.now()
        expect((await one('DELETE', `/tokens/${id}`)).status).toBe(204)
        return performance.now() - startedMs
      })
      expect(Math.min(...(await Promise.all(deletes)))).toBeGreaterThan(syncMs)
    }
    await beside(data, ['--erasure-log', list], ask, prefix)
    expect([...idsOf(list)].toSorted()).toEqual(ids.toSorted())
    const syncs = readFileSync(trace, 'utf8').match(/ fsync\(/g) ?? []
    expect(syncs.length).toBeLessThan(ids.length / 2)
  },
  60_000,
)

test('a delete by a session and one by a command are listed; what is refused is not', async () => {
  const list = join(temporaryFolder(), 'erasures')
  await beside(data, ['--erasure-log', list], async (ask, url) => {
    for (const id of ['by-session', 'by-command', 'stays']) await make(ask, id)
    const shop = { name: 'shop', type: 'public', permissions: ['token:create'] }
    const { body: application } = await ask('POST', '/applications', shop, manager.key)
    const shopKey = String(application['key'])
    const { body: session } = await ask('POST', '/sessions', undefined, shopKey)
    const grants = { nonce: session['nonce'], rules: [rule] }
    expect((await ask('POST', '/sessions/authorize', grants)).status).toBe(200)
    const sessionKey = String(session['session_key'])
    const bySession = await ask('DELETE', '/tokens/by-session', undefined, sessionKey)
    expect(bySession.status).toBe(204)
    const env = { COFFER_KEY: reader }
    const words = ['token', 'delete', 'by-command', '--addr', url]
    expect((await runCoffer(words, { env })).exitCode).toBe(0)
    const refused = [
      await ask('DELETE', '/tokens/by-session'),
      await ask('DELETE', '/tokens/never-there'),
      await ask('DELETE', '/tokens/stays', undefined, shopKey),
      await ask('DELETE', '/tokens/stays', undefined, 'key_unknown'),
    ]
    expect(refused.map(({ status }) => status)).toEqual([404, 404, 403, 401])
    const passing = { id: 'passing', type: 'token', data: 1, expires_at: soon(1_000) }
    expect((await ask('POST', '/tokens', passing)).status).toBe(201)
    while ((await ask('GET', '/tokens/passing')).status !== 404) await Bun.sleep(50)
    expect((await ask('DELETE', '/tokens/passing')).status).toBe(404)
  })
  expect(idsOf(list)).toEqual(['by-session', 'by-command'])
}, 60_000)

const soon = (ms: number): string => new Date(Date.now() + ms).toISOString()

test('a list that is moved away is begun anew, and a line that was cut off is left alone', async () => {
  const folder = temporaryFolder()
  const [list, old] = [join(folder, 'erasures'), join(folder, 'of-november')]
  writeFileSync(list, '{"erased_at":"2026', { mode: 0o600 })
  await beside(data, ['--erasure-log', list], async ask => {
    for (const id of ['moved-1', 'moved-2']) await make(ask, id)
    expect((await ask('DELETE', '/tokens/moved-1')).status).toBe(204)
    renameSync(list, old)
    expect((await ask('DELETE', '/tokens/moved-2')).status).toBe(204)
  })
  expect([idsOf(old), idsOf(list)]).toEqual([[undefined, 'moved-1'], ['moved-2']])
}, 60_000)

describe('a delete that cannot be listed', () => {
  test('is told of, and none follows it until the list can be written', async () => {
    const folder = temporaryFolder()
    const [list, kept] = [join(folder, 'erasures'), join(folder, 'kept')]
    const { logged } = await beside(data, ['--erasure-log', list], async ask => {
      for (const id of ['first', 'second']) await make(ask, id)
      renameSync(list, kept)
      mkdirSync(list)
      const first = await ask('DELETE', '/tokens/first')
      expect([first.status, first.body['detail']]).toEqual([
        503,
        'The token is deleted, and the list of erasures could not be written.',
      ])
      expect((await ask('GET', '/tokens/first')).status).toBe(404)
      const second = await ask('DELETE', '/tokens/second')
      expect([second.status, second.body['detail']]).toEqual([
        503,
        'The list of erasures cannot be written, so nothing was deleted.',
      ])
      expect((await ask('GET', '/tokens/second')).status).toBe(200)
      rmdirSync(list)
      // Whoever asks again is told 404 once the line of what was deleted is there.
      expect((await ask('DELETE', '/tokens/first')).status).toBe(404)
      expect(idsOf(list)).toEqual(['first'])
      expect((await ask('DELETE', '/tokens/second')).status).toBe(204)
    })
    expect(idsOf(list)).toEqual(['first', 'second'])
    const events = [...logged.matchAll(/"event":"(erasure_\w+)"/g)].map(([, event]) => event)
    expect(events).toEqual(['erasure_log_failed', 'erasure_log_written'])
  }, 60_000)

  test('leaves no piece of a line where there is room for a piece alone', async () => {
    const list = join(temporaryFolder(), 'erasures')
    const bytes = 2 ** 30 - 24
    writeFileSync(list, '', { mode: 0o600 })
    truncateSync(list, bytes)
    const limited = `trap '' XFSZ; ulimit -f ${2 ** 20}; exec "$@"`
    const ask = async (one: Ask) => {
      await make(one, 'no-room')
      expect((await one('DELETE', '/tokens/no-room')).status).toBe(503)
      expect(statSync(list).size).toBe(bytes)
      // Room is made.
      truncateSync(list, 0)
      expect((await one('DELETE', '/tokens/no-room')).status).toBe(404)
    }
    await beside(data, ['--erasure-log', list], ask, ['bash', '-c', limited, 'bash'])
    expect(idsOf(list)).toEqual(['no-room'])
  }, 60_000)
})

describe('serve does not start, and doctor finds a fault, where the list', () => {
  const makers: readonly (readonly [string, (folder: string) => string, RegExp])[] = [
    ['is in the data folder', () => join(data, 'erasures'), /is in the data folder/],
    ['has no folder', folder => join(folder, 'none', 'erasures'), /see that its folder exists/],
    ['is a folder', folder => folder, /is no regular file/],
    [
      'is a link',
      folder => {
        writeFileSync(join(folder, 'target'), '')
        symlinkSync(join(folder, 'target'), join(folder, 'link'))
        return join(folder, 'link')
      },
      /is no regular file/,
    ],
    [
      'is open to others',
      folder => {
        writeFileSync(join(folder, 'open'), '', { mode: 0o640 })
        return join(folder, 'open')
      },
      /is open to others than its owner: chmod 600 it/,
    ],
    [
      'is a pipe',
      folder => {
        Bun.spawnSync(['mkfifo', join(folder, 'pipe')])
        return join(folder, 'pipe')
      },
      /is no regular file/,
    ],
  ]
  test.each(makers)(
    '%s',
    async (_, make_, says) => {
      const words = [...place(data), '--port', '0', '--erasure-log', make_(temporaryFolder())]
      const served = await runCoffer(['serve', ...words])
      expect([served.exitCode === 0, served.stdout]).toEqual([false, ''])
      expect(served.stderr).toMatch(says)
      const examined = await runCoffer(['doctor', ...words])
      expect(examined.exitCode).toBe(1)
      expect(examined.stdout).toMatch(says)
    },
    60_000,
  )

  test('is fine, and then doctor makes none', async () => {
    const list = join(temporaryFolder(), 'erasures')
    const words = [...place(data), '--port', '0', '--erasure-log', list]
    expect((await runCoffer(['doctor', ...words])).exitCode).toBe(0)
    expect(existsSync(list)).toBe(false)
  }, 60_000)
})

describe('restore --erase', () => {
  let backup: string
  let list: string
  const ids = ['stays', 'erased', 'anew', 'renewed'].map(name => `restored-${name}`)
  const [stays = '', erased = '', anew = '', renewed = ''] = ids

  const restore = (folder: string, ...more: readonly string[]): Promise<Ended> =>
    runCoffer(['restore', backup, ...place(folder), ...more])

  const statuses = async (folder: string): Promise<readonly number[]> => {
    const { result } = await beside(folder, [], async ask => {
      const found: number[] = []
      for (const id of ids) found.push((await ask('GET', `/tokens/${id}`)).status)
      return found
    })
    return result
  }

  beforeAll(async () => {
    const folder = temporaryFolder()
    backup = join(folder, 'one.backup')
    list = join(folder, 'erasures')
    await beside(data, ['--erasure-log', list], async ask => {
      for (const id of ids) await make(ask, id)
      // Deleted and made anew before the backup: its line is of another token.
      expect((await ask('DELETE', `/tokens/${anew}`)).status).toBe(204)
      await make(ask, anew)
    })
    expect((await runCoffer(['backup', ...place(data), '--to', backup])).exitCode).toBe(0)
    await beside(data, ['--erasure-log', list], async ask => {
      await make(ask, 'after-the-backup')
      const change = { metadata: { changed: 'since' } }
      expect((await ask('PATCH', `/tokens/${erased}`, change)).status).toBe(200)
      for (const id of [erased, renewed, 'after-the-backup']) {
        expect((await ask('DELETE', `/tokens/${id}`)).status).toBe(204)
      }
      // Made anew since: the backup has the one that was deleted.
      await make(ask, renewed)
    })
  }, 60_000)

  test('without it they are there again', async () => {
    const folder = join(temporaryFolder(), 'restored')
    const ended = await restore(folder, '--keep-keys')
    expect(ended.stdout).toContain('tokens that were deleted since then are there again')
    expect(ended.stdout).not.toContain('erased:')
    expect(await statuses(folder)).toEqual([200, 200, 200, 200])
  }, 60_000)

  test('erases what was deleted since, and nothing that was made anew before', async () => {
    const folder = join(temporaryFolder(), 'restored')
    const ended = await restore(folder, '--keep-keys', '--erase', list)
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ended.stdout).toContain('\nerased: 2 tokens; 2 lines are of none that is there\n')
    expect(ended.stdout).toContain('are on no list that was given are there again')
    expect(await statuses(folder)).toEqual([200, 404, 200, 404])
    const verified = await runCoffer(['verify', ...place(folder)])
    expect(verified).toMatchObject({ exitCode: 0, stderr: '' })
  }, 60_000)

  test('takes several lists, the same twice, with new keys and in JSON', async () => {
    const folder = join(temporaryFolder(), 'restored')
    const written = join(temporaryFolder(), 'by-hand')
    const tenantId = manager.tenant_id
    const before = { tenantId, id: anew, erasedAtMs: Date.now() - 3_600_000 }
    const now = { tenantId, id: stays, erasedAtMs: Date.now() }
    // A person leaves an empty line, and no end of the last one.
    writeFileSync(written, `${printErasure(before)}\n${printErasure(now).trim()}`)
    const lists = ['--erase', list, '--erase', list, '--erase', written]
    const ended = await restore(folder, '--revoke-keys', '--json', ...lists)
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
    const told = JSON.parse(ended.stdout) as Record<string, unknown>
    expect(told).toMatchObject({ erased: { tokens: 3, not_there: 7 }, managers: [{}] })
    const kept = join(temporaryFolder(), 'restored')
    const again = await restore(kept, '--keep-keys', '--json', ...lists)
    expect(JSON.parse(again.stdout)).toMatchObject({ erased: { tokens: 3, not_there: 7 } })
    expect(await statuses(kept)).toEqual([404, 404, 200, 404])
  }, 60_000)

  const whole: Erasure = { tenantId: 'some', id: 'some', erasedAtMs: 0 }

  test.each([
    ['is none', 'nonsense', /: line 2 is no erasure, so nothing was restored/],
    ['was cut off', printErasure(whole).slice(0, -9), /: line 2 is no erasure/],
    ['is a list of ids alone', '["one"]', /: line 2 is no erasure/],
    ['is longer than any', 'x'.repeat(100_000), /: line 2 is no erasure/],
  ])('a line that %s is told by its number, and nothing is made', async (_, line, says) => {
    const folder = temporaryFolder()
    const bad = join(temporaryFolder(), 'list')
    writeFileSync(bad, `${printErasure(whole)}${line}\n${printErasure(whole)}`)
    const lists = ['--erase', list, '--erase', bad]
    const ended = await restore(join(folder, 'restored'), '--keep-keys', ...lists)
    expect([ended.exitCode, ended.stdout]).toEqual([1, ''])
    expect(ended.stderr).toMatch(/^coffer: [^\n]+\n$/)
    expect(ended.stderr).toMatch(says)
    expect(readdirSync(folder)).toEqual([])
  })

  test('a list that is none, or beside a look, is refused, and nothing is made', async () => {
    const folder = temporaryFolder()
    const restored = join(folder, 'restored')
    const none = join(folder, 'none')
    const refused: readonly (readonly [readonly string[], RegExp])[] = [
      [['--keep-keys', '--erase', none], /--erase: .* cannot be read \(ENOENT\)/],
      [['--keep-keys', '--erase', '/'], /--erase: .* is no regular file/],
      [['--verify-only', '--erase', list], /--verify-only: nothing is made/],
    ]
    for (const [words, says] of refused) {
      const ended = await restore(restored, ...words)
      expect([ended.exitCode, ended.stdout]).toEqual([2, ''])
      expect(ended.stderr).toMatch(says)
    }
    expect(readdirSync(folder)).toEqual([])
  })

  test('a list longer than what is read at once is read whole', async () => {
    const folder = join(temporaryFolder(), 'restored')
    const long = join(temporaryFolder(), 'list')
    const tenantId = manager.tenant_id
    const others = Array.from({ length: 20_000 }, (_, at) =>
      printErasure({ tenantId, id: `other-\u{1f511}-${at}`, erasedAtMs: Date.now() }),
    )
    writeFileSync(long, others.join('') + readFileSync(list, 'utf8'))
    const ended = await restore(folder, '--keep-keys', '--json', '--erase', long)
    expect(JSON.parse(ended.stdout)).toMatchObject({ erased: { tokens: 2, not_there: 20_002 } })
  }, 60_000)
})
