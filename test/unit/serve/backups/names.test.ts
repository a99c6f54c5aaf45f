import { describe, expect, test } from 'bun:test'
import {
  backupInstantOf,
  backupNameOf,
  newestInstantOf,
  surplusOf,
} from '../../../../src/server/backup/backup-place.ts'

const instant = Date.UTC(2026, 10, 24, 21, 55, 3)
const nameOf = (hours: number): string => backupNameOf(instant + hours * 3_600_000)

describe('names of backups', () => {
  test('say the instant, to the second', () => {
    expect(backupNameOf(instant + 999)).toBe('coffer-20261124T215503Z.backup')
    expect(backupInstantOf('coffer-20261124T215503Z.backup')).toBe(instant)
  })

  test.each([
    '',
    'coffer.backup',
    'monday.backup',
    'coffer-20261124T215503Z.backup.partial',
    'coffer-20261124T215503Z.backup2',
    'old-coffer-20261124T215503Z.backup',
    'coffer-20261324T215503Z.backup',
    'coffer-20261124T255503Z.backup',
    'coffer-20261124215503.backup',
  ])('are told from %p', name => {
    expect(backupInstantOf(name)).toBeUndefined()
  })

  test('tell the newest, of which the future knows nothing', () => {
    expect(newestInstantOf([], instant)).toBeUndefined()
    expect(newestInstantOf(['mine', nameOf(1)], instant)).toBeUndefined()
    expect(newestInstantOf([nameOf(-9), nameOf(0), nameOf(-3), nameOf(1)], instant)).toBe(instant)
  })

  test('are taken away beyond those that stay: of the future first, then the oldest', () => {
    const names = [nameOf(-9), nameOf(0), 'mine', nameOf(5), nameOf(-3), nameOf(-1)]
    expect(surplusOf(names, 5, instant)).toEqual([])
    expect(surplusOf(names, 4, instant)).toEqual([nameOf(5)])
    expect(surplusOf(names, 2, instant)).toEqual([nameOf(-3), nameOf(-9), nameOf(5)])
    expect(surplusOf(names, 1, instant)).not.toContain(nameOf(0))
  })
})
