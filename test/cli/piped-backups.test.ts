/**
 * Backups that go to standard output and come by standard input.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { cofferCommand, runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

let data: string
let keyArgs: readonly string[]
beforeAll(async () => {
  data = join(temporaryFolder(), 'data')
  expect((await runCoffer(['init', '--data', data])).exitCode).toBe(0)
  keyArgs = ['--master-key-file', join(data, 'master.key')]
})

/** @param script of a shell, in which `"$@"` is the command */
function inShell(script: string, ...words: readonly string[]) {
  const shell = ['bash', '-c', `set -o pipefail; ${script}`, 'sh']
  const { exitCode, stdout, stderr } = Bun.spawnSync([...shell, ...cofferCommand, ...words])
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
}

const backup = (script: string, ...more: readonly string[]) =>
  inShell(script, 'backup', '--data', data, '--to', '-', ...more)

describe('a backup to standard output', () => {
  test('is all that is there, and is restored from standard input', async () => {
    const folder = temporaryFolder()
    const piped = join(folder, 'piped')
    const made = backup(`"$@" | cat >'${piped}'`, '--json')
    expect([made.exitCode, made.stdout]).toEqual([0, ''])
    expect(JSON.parse(made.stderr)).toMatchObject({
      file: '-',
      bytes: statSync(piped).size,
      rows: { application: 1 },
    })
    expect(readFileSync(piped).subarray(0, 16).toString('latin1')).toBe('coffer backup 1\n')
    expect(readdirSync(data).toSorted()).toEqual(['format', 'lock', 'master.key', 'store'])
    const restored = join(folder, 'restored')
    const words = ['restore', '-', '--data', restored, ...keyArgs]
    const tried = inShell(`"$@" <'${piped}'`, ...words, '--verify-only')
    expect([tried.exitCode, tried.stdout]).toEqual([
      0,
      expect.stringMatching(/^the backup is whole/),
    ])
    expect(readdirSync(folder)).toEqual(['piped'])
    for (const input of [`head -c 900 '${piped}' |`, 'printf "" |']) {
      const cut = inShell(`${input} "$@"`, ...words, '--keep-keys')
      expect([cut.exitCode, cut.stdout, readdirSync(folder)]).toEqual([1, '', ['piped']])
    }
    const whole = inShell(`cat '${piped}' | "$@"`, ...words, '--keep-keys')
    expect([whole.exitCode, whole.stderr]).toEqual([0, ''])
    expect(readdirSync(restored).toSorted()).toEqual(['format', 'lock', 'store'])
    expect((await runCoffer(['verify', '--data', restored, ...keyArgs])).exitCode).toBe(0)
  })

  // proves E8.9
  test.each([
    ['no backup', 'cat /dev/zero', /^coffer: the file at standard input is not a backup/],
    ['a backup that goes on', 'cat "$0" /dev/zero', /^coffer: the backup at standard input is dam/],
    ['one with a byte more', 'cat "$0"; echo', /^coffer: the backup at standard input is dam/],
    ['a beginning', 'head -c 100 "$0"', /^coffer: the backup at standard input is damaged/],
  ])('is not restored from %s, which is read no further', (_, input, expected) => {
    const folder = temporaryFolder()
    const piped = join(folder, 'piped')
    expect(backup(`"$@" >'${piped}'`).exitCode).toBe(0)
    // Without a bound the file of the input would grow until the system ends the command.
    const script = `ulimit -f 131072; (${input.replace('$0', piped)}) | "$@"`
    const words = ['restore', '-', '--data', join(folder, 'restored'), ...keyArgs, '--keep-keys']
    const { stdout, stderr } = inShell(script, ...words)
    expect(stderr).toMatch(expected)
    expect([stdout, readdirSync(folder)]).toEqual(['', ['piped']])
  })

  test('fails where its reader ends early', () => {
    const ended = backup('"$@" | true')
    expect(ended.exitCode).toBe(1)
    expect(ended.stderr).toBe('coffer: standard output was closed before the backup was whole\n')
    expect(readdirSync(data).toSorted()).toEqual(['format', 'lock', 'master.key', 'store'])
  })

  test('is refused on a terminal, and so is one that is read there', () => {
    const words = (...more: readonly string[]) => [...cofferCommand, ...more].join(' ')
    const onTerminal = (command: string) =>
      Bun.spawnSync(['script', '-qec', command, '/dev/null'], { stdin: 'ignore' }).stdout.toString()
    const to = onTerminal(words('backup', '--data', data, '--to', '-'))
    expect(to).toContain('--to -: expected a pipe or a file, and no terminal, at standard output')
    const restored = join(temporaryFolder(), 'restored')
    const args = ['restore', '-', '--data', restored, ...keyArgs, '--keep-keys']
    expect(onTerminal(words(...args))).toContain('restore -: expected a backup by a pipe')
  })

  test('is refused for a vault with a passphrase, whose backup is two files', () => {
    const other = join(temporaryFolder(), 'data')
    const made = inShell(
      '"$@" 3< <(echo some words of a passphrase)',
      'init',
      '--data',
      other,
      '--passphrase-fd',
      '3',
    )
    expect(made.exitCode).toBe(0)
    const args = ['backup', '--data', other, '--to', '-', '--passphrase-fd', '3']
    const refused = inShell('"$@" 3< <(echo some words of a passphrase)', ...args)
    expect([refused.exitCode, refused.stdout]).toEqual([2, ''])
    expect(refused.stderr).toContain('the backup of a vault with a passphrase is two files')
  })
})
