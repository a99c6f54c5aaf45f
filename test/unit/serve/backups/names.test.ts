import { describe, expect, test } from 'bun:test'
import {
  backupInstantOf,
  backupNameOf,
  datedFilesOf,
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

  test('give the order of files, the newest first, and leave out all others', () => {
    const names = [nameOf(-9), nameOf(0), 'mine', nameOf(5), nameOf(-3)]
    const dated = datedFilesOf(names.map(name => ({ name, bytes: 1 })))
    expect(dated.map(({ name }) => name)).toEqual([5, 0, -3, -9].map(nameOf))
    expect(dated[1]).toEqual({ name: nameOf(0), bytes: 1, instantMs: instant })
  })
})
