/**
 * `restore --erase-from-log`: tokens that ended after the backup are gone again by the audit log,
 * and a log that is another's, older, forked or changed is refused.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  appendFileSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { cofferCommand, runCoffer, type Ended } from '../support/coffer-process.ts'
import {
  beside,
  makeListedVault,
  makeToken,
  placeOf,
  type Ask,
  type ListedVault,
} from '../support/erasing.ts'
import { temporaryFolder } from '../support/folders.ts'
import { until } from '../support/until.ts'

const names = ['stays', 'gone', 'before', 'renewed', 'due', 'twice'] as const
const idOf = (name: string): string => `logged-${name}`

let vault: ListedVault
let backup: string
let older: string
let newer: string

const run = async (...words: readonly string[]): Promise<Ended> => {
  const ended = await runCoffer(words)
  expect(ended).toMatchObject({ exitCode: 0 })
  return ended
}

/** Exports a log. @returns its file */
async function exportLog(from: ListedVault, data: string, name: string): Promise<string> {
  const file = join(temporaryFolder(), name)
  const { stdout } = await run('audit', 'export', ...placeOf(from, data))
  writeFileSync(file, stdout)
  return file
}

const remove = async (ask: Ask, name: string): Promise<void> =>
  expect((await ask('DELETE', `/tokens/${idOf(name)}`)).status).toBe(204)

/** The instant moves earlier than the one that the backup has. */
async function makeDue(ask: Ask): Promise<void> {
  const path = `/tokens/${idOf('due')}`
  const body = { expires_at: new Date(Date.now() + 300).toISOString() }
  expect((await ask('PATCH', path, body)).status).toBe(200)
}

const isEntered = async (what: string): Promise<boolean> =>
  (await run('audit', 'export', ...placeOf(vault, vault.data))).stdout.includes(what)

beforeAll(async () => {
  vault = await makeListedVault()
  backup = join(temporaryFolder(), 'one.backup')
  await beside(vault, vault.data, [], async ask => {
    for (const name of names) await makeToken(ask, idOf(name))
    // It is made anew before the backup: what the log tells of it is older.
    await remove(ask, 'before')
    await makeToken(ask, idOf('before'))
  })
  older = await exportLog(vault, vault.data, 'older')
  await beside(vault, vault.data, [], async ask => {
    expect((await ask('GET', `/tokens/${idOf('stays')}`)).status).toBe(200)
  })
  await run('backup', ...placeOf(vault, vault.data), '--to', backup)
  await beside(vault, vault.data, [], async ask => {
    await makeDue(ask)
    for (const name of ['gone', 'renewed', 'twice']) await remove(ask, name)
    for (const name of ['renewed', 'twice', 'later']) await makeToken(ask, idOf(name))
    for (const name of ['twice', 'later']) await remove(ask, name)
    expect((await ask('DELETE', `/tokens/${idOf('never-there')}`)).status).toBe(404)
    const refused = await ask('DELETE', `/tokens/${idOf('stays')}`, undefined, vault.managementKey)
    expect(refused.status).toBe(403)
    await until(() => isEntered('tokenExpired'))
  })
  newer = await exportLog(vault, vault.data, 'newer')
}, 300_000)

const restore = (folder: string, file: string, ...more: readonly string[]): Promise<Ended> => {
  const words = ['--keep-keys', '--erase-from-log', file, ...more]
  return runCoffer(['restore', backup, ...placeOf(vault, folder), ...words])
}

const statuses = async (folder: string): Promise<Readonly<Record<string, number>>> => {
  const { result } = await beside(vault, folder, [], async ask => {
    const found: Record<string, number> = {}
    for (const name of names) found[name] = (await ask('GET', `/tokens/${idOf(name)}`)).status
    return found
  })
  return result
}

describe('restore --erase-from-log', () => {
  // proves S16
  test('erases what ended after the backup, and nothing that was made anew before', async () => {
    const folder = join(temporaryFolder(), 'restored')
    const ended = await restore(folder, newer)
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
    // Twice is deleted twice, and later is not in the backup.
    expect(ended.stdout).toContain('\nerased: 4 tokens; 2 lines are of none that is there\n')
    expect(await statuses(folder)).toEqual({
      stays: 200,
      gone: 404,
      before: 200,
      renewed: 404,
      due: 404,
      twice: 404,
    })
    await run('verify', ...placeOf(vault, folder))
  }, 300_000)

  test('goes with lists, and tells in JSON; the log of a restored vault goes on', async () => {
    const list = join(temporaryFolder(), 'list')
    const [tenantId, at] = [vault.tenantId, new Date().toISOString()]
    writeFileSync(list, JSON.stringify({ erased_at: at, tenant_id: tenantId, id: idOf('stays') }))
    const folder = join(temporaryFolder(), 'restored')
    const ended = await restore(folder, newer, '--erase', list, '--json')
    expect(JSON.parse(ended.stdout)).toMatchObject({ erased: { tokens: 5, not_there: 2 } })
    await beside(vault, folder, [], ask => remove(ask, 'before'))
    const next = await exportLog(vault, folder, 'next')
    const again = join(temporaryFolder(), 'restored')
    const unsigned = await restore(again, next, '--json')
    expect([unsigned.exitCode, unsigned.stdout]).toEqual([1, ''])
    expect(unsigned.stderr).toContain('which no checkpoint covers')
    const { stdout } = await restore(again, next, '--accept-unsigned', '--json')
    // Entries that are signed under another name than that of the backup are told.
    const { erased } = JSON.parse(stdout) as { erased: Record<string, number> }
    expect(erased).toEqual({ tokens: 1, not_there: 0, unsigned_from: expect.any(Number) })
    expect((await statuses(again))['before']).toBe(404)
  }, 300_000)
})

describe('an export that another process writes to while a backup is awaited', () => {
  /** Changes it once it was read, and before the backup comes by standard input. */
  async function restoreWhile(change: (file: string) => void): Promise<Ended> {
    const folder = temporaryFolder()
    const exported = join(folder, 'exported')
    copyFileSync(newer, exported)
    const words = [...placeOf(vault, join(folder, 'restored')), '--erase-from-log', exported]
    const command = [...cofferCommand, 'restore', '-', ...words, '--keep-keys']
    const child = Bun.spawn(command, { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
    await until(() => readdirSync(folder).length > 1)
    change(exported)
    child.stdin.write(readFileSync(backup))
    await child.stdin.end()
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    return { exitCode: await child.exited, stdout, stderr }
  }

  // proves S16
  test('is the one that was read, whatever has its name by now', async () => {
    const ended = await restoreWhile(file => {
      rmSync(file)
      writeFileSync(file, 'another file\n')
    })
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ended.stdout).toContain('\nerased: 4 tokens;')
  }, 300_000)

  test('is refused where it is no longer the same', async () => {
    const ended = await restoreWhile(file => appendFileSync(file, ' '))
    expect(ended).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ended.stderr).toMatch(
      /exported: line \d+ is not as it|exported was changed while it was/,
    )
    const touched = await restoreWhile(file => utimesSync(file, 1, 1))
    expect(touched).toMatchObject({ exitCode: 1, stdout: '' })
    expect(touched.stderr).toContain('exported was changed while it was read: try again')
  }, 300_000)
})

/** Writes a copy of the newer export with other lines. */
function changed(change: (lines: readonly string[]) => readonly string[]): string {
  const file = join(temporaryFolder(), 'changed')
  const lines = readFileSync(newer, 'utf8').split('\n')
  writeFileSync(file, change(lines).join('\n'))
  return file
}

const isDelete = (line: string): boolean =>
  line.includes('"operation":"deleteToken"') && line.includes('"result":204')

describe('restore --erase-from-log refuses, and makes nothing of', () => {
  const refusals: readonly (readonly [string, () => string | Promise<string>, RegExp])[] = [
    ['no file', () => join(temporaryFolder(), 'none'), /is no whole export of an audit log/],
    [
      'an export that was cut off',
      () => changed(lines => lines.slice(0, -3)),
      /is no whole export of an audit log/,
    ],
    [
      'the log of another vault',
      async () => {
        const other = await makeListedVault()
        return exportLog(other, other.data, 'other')
      },
      /is of another vault: it does not name the key of the backup: nothing was restored/,
    ],
    [
      'a log with a deletion behind its last checkpoint, which anybody could add',
      () =>
        changed(lines => {
          const deletion = lines.find(isDelete) ?? ''
          const ends = lines.findIndex(line => line.startsWith('{"checkpoints"'))
          const added = deletion.replace(/"sequence":\d+/, `"sequence":${ends - 1}`)
          const other = added.replaceAll(/logged-\w+/g, idOf('stays'))
          return [...lines.slice(0, ends), other, ...lines.slice(ends)]
        }),
      /has deletions from entry \d+ on, which no checkpoint covers: export it again .* nothing was/,
    ],
    ['a log that ends before the backup', () => older, /ends before the backup, which has \d+/],
    [
      'a log with a deletion taken out',
      () => changed(lines => lines.filter(line => !isDelete(line))),
      /does not verify \(entry \d+: the entry with this sequence is missing/,
    ],
    [
      'a log with another id in a deletion',
      () =>
        changed(lines =>
          lines.map(line => (isDelete(line) ? line.replaceAll('-gone', '-stays') : line)),
        ),
      /does not verify \(between entries \d+ and \d+, checkpoint \d+: the entries do not give/,
    ],
    [
      'a log without its checkpoints',
      () =>
        changed(lines =>
          lines.map(line => (line.startsWith('{"checkpoints"') ? '{"checkpoints":[]}' : line)),
        ),
      /has no checkpoint by the key of the backup/,
    ],
  ]
  // proves S16
  test.each(refusals)(
    '%s',
    async (_, make, says) => {
      const file = await make()
      const folder = temporaryFolder()
      const ended = await restore(join(folder, 'restored'), file)
      expect([ended.exitCode, ended.stdout]).toEqual([1, ''])
      expect(ended.stderr).toMatch(says)
      expect(ended.stderr).toMatch(/^coffer: [^\n]+\n$/)
      expect(readdirSync(folder)).toEqual([])
    },
    300_000,
  )

  test('a look', async () => {
    const folder = temporaryFolder()
    const words = ['--verify-only', '--erase-from-log', newer]
    const place = placeOf(vault, join(folder, 'restored'))
    const ended = await runCoffer(['restore', backup, ...place, ...words])
    expect([ended.exitCode, ended.stdout]).toEqual([2, ''])
    expect(ended.stderr).toMatch(/--verify-only: nothing is made, and no token is erased/)
  })
})
