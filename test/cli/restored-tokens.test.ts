/**
 * Lists of erasures in `restore --erase`: tokens of a backup that are gone, tokens that stay, and
 * lists that are refused.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { printErasure, type Erasure } from '../../src/rules/erasures.ts'
import { cofferCommand, runCoffer, type Ended } from '../support/coffer-process.ts'
import {
  beside,
  makeListedVault,
  makeToken,
  placeOf,
  type ListedVault,
} from '../support/erasing.ts'
import { temporaryFolder } from '../support/folders.ts'
import { until } from '../support/until.ts'

describe('restore --erase', () => {
  let vault: ListedVault
  let backup: string
  let list: string
  const ids = ['stays', 'erased', 'anew', 'renewed'].map(name => `restored-${name}`)
  const [stays = '', erased = '', anew = '', renewed = ''] = ids

  const restore = (folder: string, ...more: readonly string[]): Promise<Ended> =>
    runCoffer(['restore', backup, ...placeOf(vault, folder), ...more])

  const statuses = async (folder: string): Promise<readonly number[]> => {
    const { result } = await beside(vault, folder, [], async ask => {
      const found: number[] = []
      for (const id of ids) found.push((await ask('GET', `/tokens/${id}`)).status)
      return found
    })
    return result
  }

  beforeAll(async () => {
    vault = await makeListedVault()
    const folder = temporaryFolder()
    backup = join(folder, 'one.backup')
    list = join(folder, 'erasures')
    await beside(vault, vault.data, ['--erasure-log', list], async ask => {
      for (const id of ids) await makeToken(ask, id)
      // Deleted and made anew before the backup: its line is of another token.
      expect((await ask('DELETE', `/tokens/${anew}`)).status).toBe(204)
      await makeToken(ask, anew)
    })
    expect(
      (await runCoffer(['backup', ...placeOf(vault, vault.data), '--to', backup])).exitCode,
    ).toBe(0)
    await beside(vault, vault.data, ['--erasure-log', list], async ask => {
      await makeToken(ask, 'after-the-backup')
      const change = { metadata: { changed: 'since' } }
      expect((await ask('PATCH', `/tokens/${erased}`, change)).status).toBe(200)
      for (const id of [erased, renewed, 'after-the-backup']) {
        expect((await ask('DELETE', `/tokens/${id}`)).status).toBe(204)
      }
      // Made anew since: the backup has the one that was deleted.
      await makeToken(ask, renewed)
    })
  }, 300_000)

  test('without it they are there again', async () => {
    const folder = join(temporaryFolder(), 'restored')
    const ended = await restore(folder, '--keep-keys')
    expect(ended.stdout).toContain('tokens that were deleted since then are there again')
    expect(ended.stdout).not.toContain('erased:')
    expect(await statuses(folder)).toEqual([200, 200, 200, 200])
  }, 300_000)

  // proves E8.4, S16
  test('erases what was deleted since, and nothing that was made anew before', async () => {
    const folder = join(temporaryFolder(), 'restored')
    const ended = await restore(folder, '--keep-keys', '--erase', list)
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ended.stdout).toContain('\nerased: 2 tokens; 2 lines are of none that is there\n')
    expect(ended.stdout).toContain('are on no list that was given are there again')
    expect(await statuses(folder)).toEqual([200, 404, 200, 404])
    const verified = await runCoffer(['verify', ...placeOf(vault, folder)])
    expect(verified).toMatchObject({ exitCode: 0, stderr: '' })
  }, 300_000)

  /** Waits until the lists were checked, changes one, and only then gives the backup. */
  async function restoreAround(change: (path: string) => void) {
    const folder = temporaryFolder()
    const own = join(folder, 'list')
    writeFileSync(own, readFileSync(list))
    const to = join(folder, 'restored')
    const words = ['restore', '-', ...placeOf(vault, to), '--keep-keys', '--erase', own]
    const restoring = Bun.spawn([...cofferCommand, ...words], {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    await until(() => readdirSync(folder).length > 1)
    change(own)
    await restoring.stdin.write(readFileSync(backup))
    await restoring.stdin.end()
    const stderr = await restoring.stderr.text()
    return { to, exitCode: await restoring.exited, stderr, left: readdirSync(folder) }
  }

  // proves E8.4
  test('is of the lines that were checked: those appended meanwhile are left out', async () => {
    const ended = await restoreAround(path => appendFileSync(path, 'no erasure\n'))
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await statuses(ended.to)).toEqual([200, 404, 200, 404])
  }, 300_000)

  // proves E8.4
  test('restores nothing where a list is changed otherwise', async () => {
    const line = printErasure({ tenantId: vault.tenantId, id: stays, erasedAtMs: Date.now() })
    for (const text of [`${line}\n`, '']) {
      const { exitCode, stderr, left } = await restoreAround(path => writeFileSync(path, text))
      expect([exitCode, left]).toEqual([1, ['list']])
      expect(stderr).toMatch(/^coffer: [^\n]+ changed meanwhile, so nothing was restored[^\n]+\n$/)
    }
  }, 300_000)

  test('takes several lists, the same twice, with new keys and in JSON', async () => {
    const folder = join(temporaryFolder(), 'restored')
    const written = join(temporaryFolder(), 'by-hand')
    const tenantId = vault.tenantId
    const before = { tenantId, id: anew, erasedAtMs: Date.now() - 3_600_000 }
    const now = { tenantId, id: stays, erasedAtMs: Date.now() }
    // A list written by hand: with an empty line, and no line feed at its end.
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
  }, 300_000)

  const whole: Erasure = { tenantId: 'some', id: 'some', erasedAtMs: 0 }

  // proves E8.5
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
      // A regular file that nobody can read from its beginning, root neither.
      [['--keep-keys', '--erase', '/proc/self/mem'], /--erase: .* cannot be read \(EIO\)/],
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
    const tenantId = vault.tenantId
    const others = Array.from({ length: 20_000 }, (_, at) =>
      printErasure({ tenantId, id: `other-\u{1f511}-${at}`, erasedAtMs: Date.now() }),
    )
    writeFileSync(long, others.join('') + readFileSync(list, 'utf8'))
    const ended = await restore(folder, '--keep-keys', '--json', '--erase', long)
    expect(JSON.parse(ended.stdout)).toMatchObject({ erased: { tokens: 2, not_there: 20_002 } })
  }, 300_000)
})
