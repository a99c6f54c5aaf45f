/**
 * The list of erasures: lines that `serve --erasure-log` writes of deletes before it answers them,
 * and deletes that cannot be listed.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { findTracer } from '../crash/faults/trace-answers.ts'
import { runCoffer } from '../support/coffer-process.ts'
import { openConnection } from '../support/connection.ts'
import {
  beside,
  idsOf,
  linesOf,
  makeListedVault,
  makeToken,
  placeOf,
  rule,
  secret,
  type Ask,
  type ListedVault,
} from '../support/erasing.ts'
import { temporaryFolder } from '../support/folders.ts'

let vault: ListedVault
beforeAll(async () => {
  vault = await makeListedVault()
}, 300_000)

describe.each([
  ['one process', [] as string[]],
  ['three workers', ['--workers', '3']],
])('deletes by %s', (_, more) => {
  // proves S16
  test('at once, over many connections, are listed before they are answered', async () => {
    const list = join(temporaryFolder(), 'erasures')
    const ids = Array.from({ length: 60 }, (_none, at) => `many-${more.length}-${at}`)
    const beforeMs = Date.now()
    await beside(vault, vault.data, ['--erasure-log', list, ...more], async (ask, url) => {
      for (const id of ids) await makeToken(ask, id)
      const port = Number(new URL(url).port)
      const deletes = ids.map(async id => {
        const connection = await openConnection({ hostname: '127.0.0.1', port })
        const { status } = await connection.ask('DELETE', `/tokens/${id}`, { key: vault.reader })
        // An answered erasure stands there already, while others are still being answered.
        expect([status, idsOf(list).includes(id)]).toEqual([204, true])
        connection.close()
      })
      await Promise.all(deletes)
    })
    expect([...idsOf(list)].toSorted()).toEqual(ids.toSorted())
    for (const line of linesOf(list)) {
      expect(line?.tenantId).toBe(vault.tenantId)
      expect(line?.createdAtMs).toBeGreaterThanOrEqual(beforeMs - 1_000)
      expect(line?.erasedAtMs).toBeGreaterThanOrEqual(line?.createdAtMs ?? Infinity)
    }
    expect(statSync(list).mode & 0o777).toBe(0o600)
    const text = readFileSync(list, 'utf8')
    for (const value of [secret, vault.reader, vault.managementKey])
      expect(text).not.toContain(value)
  }, 300_000)
})

const tracer = findTracer()
const syncMs = 300

// `.ci/run` installs strace, which may trace there.
// proves S16
test.skipIf(tracer !== undefined)(
  'a delete is answered once its line is on disk, and those at once are flushed together',
  async () => {
    const folder = temporaryFolder()
    const [list, trace] = [join(folder, 'erasures'), join(folder, 'trace')]
    const ids = Array.from({ length: 40 }, (_, at) => `flushed-${at}`)
    const prefix = ['strace', '-D', '-f', '-o', trace, '-e', 'trace=fsync']
    prefix.push('-e', `inject=fsync:delay_enter=${syncMs * 1_000}`)
    const ask = async (one: Ask) => {
      for (const id of ids) await makeToken(one, id)
      const deleteMs = async (id: string): Promise<number> => {
        const startedMs = performance.now()
        expect((await one('DELETE', `/tokens/${id}`)).status).toBe(204)
        return performance.now() - startedMs
      }
      const [alone = '', ...atOnce] = ids
      const took = await Promise.all(atOnce.map(deleteMs))
      // The folder was synced with the first of them: this one waits for its line alone.
      took.push(await deleteMs(alone))
      expect(Math.min(...took)).toBeGreaterThan(syncMs)
    }
    await beside(vault, vault.data, ['--erasure-log', list], ask, prefix)
    expect([...idsOf(list)].toSorted()).toEqual(ids.toSorted())
    const syncs = readFileSync(trace, 'utf8').match(/ fsync\(/g) ?? []
    expect(syncs.length).toBeLessThan(ids.length / 2)
  },
  300_000,
)

test('a delete by a session and one by a command are listed; what is refused is not', async () => {
  const list = join(temporaryFolder(), 'erasures')
  await beside(vault, vault.data, ['--erasure-log', list], async (ask, url) => {
    for (const id of ['by-session', 'by-command', 'stays']) await makeToken(ask, id)
    const shop = { name: 'shop', type: 'public', permissions: ['token:create'] }
    const { body: application } = await ask('POST', '/applications', shop, vault.managementKey)
    const shopKey = String(application['key'])
    const { body: session } = await ask('POST', '/sessions', undefined, shopKey)
    const grants = { nonce: session['nonce'], rules: [rule] }
    expect((await ask('POST', '/sessions/authorize', grants)).status).toBe(200)
    const sessionKey = String(session['session_key'])
    const bySession = await ask('DELETE', '/tokens/by-session', undefined, sessionKey)
    expect(bySession.status).toBe(204)
    const env = { COFFER_KEY: vault.reader }
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
}, 300_000)

const soon = (ms: number): string => new Date(Date.now() + ms).toISOString()

test('a list that is moved away is begun anew, and a piece of a line is left alone', async () => {
  const folder = temporaryFolder()
  const [list, old] = [join(folder, 'erasures'), join(folder, 'of-november')]
  writeFileSync(list, '{"erased_at":"2026', { mode: 0o600 })
  await beside(vault, vault.data, ['--erasure-log', list], async ask => {
    for (const id of ['moved-1', 'moved-2']) await makeToken(ask, id)
    expect((await ask('DELETE', '/tokens/moved-1')).status).toBe(204)
    renameSync(list, old)
    expect((await ask('DELETE', '/tokens/moved-2')).status).toBe(204)
  })
  expect([idsOf(old), idsOf(list)]).toEqual([[undefined, 'moved-1'], ['moved-2']])
}, 300_000)

describe('a delete that cannot be listed', () => {
  // proves C2.29, S16
  test('is told of, and none follows it until the list can be written', async () => {
    const folder = temporaryFolder()
    const [list, kept] = [join(folder, 'erasures'), join(folder, 'kept')]
    const { logged } = await beside(vault, vault.data, ['--erasure-log', list], async ask => {
      for (const id of ['first', 'second']) await makeToken(ask, id)
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
      // A caller that asks again is told 404 once the line of the delete is there.
      expect((await ask('DELETE', '/tokens/first')).status).toBe(404)
      expect(idsOf(list)).toEqual(['first'])
      expect((await ask('DELETE', '/tokens/second')).status).toBe(204)
    })
    expect(idsOf(list)).toEqual(['first', 'second'])
    const events = [...logged.matchAll(/"event":"(erasure_\w+)"/g)].map(([, event]) => event)
    expect(events).toEqual(['erasure_log_failed', 'erasure_log_written'])
  }, 300_000)

  test('is told of where others may read or write the list that was put there', async () => {
    const list = join(temporaryFolder(), 'erasures')
    await beside(vault, vault.data, ['--erasure-log', list], async ask => {
      for (const [id, mode] of [
        ['read', 0o644],
        ['written', 0o622],
      ] as const) {
        await makeToken(ask, id)
        chmodSync(list, mode)
        expect((await ask('DELETE', `/tokens/${id}`)).status).toBe(503)
        chmodSync(list, 0o600)
        expect((await ask('DELETE', `/tokens/${id}`)).status).toBe(404)
      }
    })
    expect(idsOf(list)).toEqual(['read', 'written'])
  }, 300_000)

  // proves E8.6
  test('leaves no piece of a line where there is room for a piece alone', async () => {
    const list = join(temporaryFolder(), 'erasures')
    const bytes = 2 ** 30 - 24
    writeFileSync(list, '', { mode: 0o600 })
    truncateSync(list, bytes)
    const limited = `trap '' XFSZ; ulimit -f ${2 ** 20}; exec "$@"`
    const ask = async (one: Ask) => {
      await makeToken(one, 'no-room')
      expect((await one('DELETE', '/tokens/no-room')).status).toBe(503)
      expect(statSync(list).size).toBe(bytes)
      // Room is made.
      truncateSync(list, 0)
      expect((await one('DELETE', '/tokens/no-room')).status).toBe(404)
    }
    await beside(vault, vault.data, ['--erasure-log', list], ask, ['bash', '-c', limited, 'bash'])
    expect(idsOf(list)).toEqual(['no-room'])
  }, 300_000)
})

describe('serve does not start, and doctor finds a fault, where the list', () => {
  const makers: readonly (readonly [string, (folder: string) => string, RegExp])[] = [
    ['is in the data folder', () => join(vault.data, 'erasures'), /is in the data folder/],
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
  // proves E8.5
  test.each(makers)(
    '%s',
    async (_, makeOne, says) => {
      const words = [
        ...placeOf(vault, vault.data),
        '--port',
        '0',
        '--erasure-log',
        makeOne(temporaryFolder()),
      ]
      const served = await runCoffer(['serve', ...words])
      expect([served.exitCode === 0, served.stdout]).toEqual([false, ''])
      expect(served.stderr).toMatch(says)
      const examined = await runCoffer(['doctor', ...words])
      expect(examined.exitCode).toBe(1)
      expect(examined.stdout).toMatch(says)
    },
    300_000,
  )

  test('is fine, and then doctor makes none', async () => {
    const list = join(temporaryFolder(), 'erasures')
    const words = [...placeOf(vault, vault.data), '--port', '0', '--erasure-log', list]
    expect((await runCoffer(['doctor', ...words])).exitCode).toBe(0)
    expect(existsSync(list)).toBe(false)
  }, 300_000)
})
