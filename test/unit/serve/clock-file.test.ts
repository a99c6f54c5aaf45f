/**
 * The file of the clock, on a real disk. Source: src/server/process/clock-file.ts.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { chownSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openClockFile, sharedMark } from '../../../src/server/process/clock-file.ts'
import { clockFileBytesMax } from '../../../src/limits/operation-limits.ts'
import { deadlineMsMax } from '../../../src/limits/work-limits.ts'
import { temporaryFolder } from '../../support/folders.ts'

const newPath = () => join(temporaryFolder(), 'clock')

describe('the file of the clock', () => {
  test('is made where it is missing, for its owner alone', () => {
    const path = newPath()
    const file = openClockFile(path)
    expect(file.read()).toBe('')
    file.write('1893456000000\n')
    expect(readFileSync(path, 'latin1')).toBe('1893456000000\n')
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test.if(process.getuid?.() === 0)('is of the owner of its folder when root makes it', () => {
    const folder = temporaryFolder()
    chownSync(folder, 65_534, 65_534)
    openClockFile(join(folder, 'clock')).write('1')
    const { uid, gid } = statSync(join(folder, 'clock'))
    expect([uid, gid]).toEqual([65_534, 65_534])
  })

  test('holds what was written last, and nothing of what stood there', () => {
    const path = newPath()
    writeFileSync(path, 'canary '.repeat(1_000))
    const file = openClockFile(path)
    expect(file.read()).toHaveLength(clockFileBytesMax)
    for (const text of ['1893456000000\n', '1893456002000\n', '5\n', '1893456002000\n']) {
      file.write(text)
      expect(readFileSync(path, 'latin1')).toBe(text)
      expect(openClockFile(path).read()).toBe(text)
    }
  })

  test('that is a folder or a link can be neither read nor written, and stays', () => {
    const folder = newPath()
    mkdirSync(folder)
    const [link, target] = [newPath(), newPath()]
    writeFileSync(target, 'canary')
    symlinkSync(target, link)
    for (const path of [folder, link]) {
      const file = openClockFile(path)
      expect(() => file.read()).toThrow()
      expect(() => file.write('1\n')).toThrow()
    }
    expect(readFileSync(target, 'latin1')).toBe('canary')
  })
})

describe('a mark that several processes keep', () => {
  const write = (path: string, text: string) => sharedMark(openClockFile(path)).write(text)

  test('is raised, and never lowered', () => {
    const path = newPath()
    const texts = ['5000\n', '4000\n', '1893456000000\n', '1893455999999\n']
    const after = texts.map(text => {
      write(path, text)
      return readFileSync(path, 'latin1')
    })
    expect(after).toEqual(['5000\n', '5000\n', '1893456000000\n', '1893456000000\n'])
  })

  test.each([
    'canary '.repeat(100),
    'Infinity\n',
    '99999999999999999999\n',
    '0x1fffffffffffff\n',
    `${deadlineMsMax + 1}\n`,
    '6000',
    ' 6000\n',
    '',
  ])('is written over what is no mark: %j', text => {
    const path = newPath()
    writeFileSync(path, text)
    write(path, '5000\n')
    expect(readFileSync(path, 'latin1')).toBe('5000\n')
  })

  test('is left as it is where it is the latest that there can be', () => {
    const path = newPath()
    writeFileSync(path, `${deadlineMsMax}\n`)
    write(path, '5000\n')
    expect(readFileSync(path, 'latin1')).toBe(`${deadlineMsMax}\n`)
  })

  test('is read as what it was before the first of them, where that is known', () => {
    const path = newPath()
    const file = openClockFile(path)
    file.write('7000\n')
    expect(sharedMark(file).read()).toBe('7000\n')
    const early = sharedMark(file, '5000\n')
    early.write('6000\n')
    expect([early.read(), file.read()]).toEqual(['5000\n', '7000\n'])
  })
})
