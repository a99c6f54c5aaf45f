/**
 * Progress that commands print while they work on a large vault, on a terminal and elsewhere.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { progressFileBytesMin } from '../../src/limits/operation-limits.ts'
import { newBackupKey, writeBackup, type Manifest } from '../../src/server/backup/backup-file.ts'
import { formatVersion } from '../../src/server/folder/folder-stamp.ts'
import { readMasterKey } from '../../src/server/keys/master-key.ts'
import { randomBytes } from '../../src/server/process/system.ts'
import { cofferCommand, runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

let small: string
let large: string
let masterKey: string

const databaseOf = (data: string): string => join(data, 'store', 'data.mdb')

/** A new vault, and one whose file is long though hardly anything is in it. */
beforeAll(async () => {
  const folder = temporaryFolder()
  small = join(folder, 'small')
  large = join(folder, 'large')
  masterKey = join(folder, 'master.key')
  const made = await runCoffer(['init', '--data', small, '--master-key-file', masterKey])
  expect(made.exitCode).toBe(0)
  cpSync(small, large, { recursive: true })
  truncateSync(databaseOf(large), progressFileBytesMin)
})

/** Returns the lines that a command prints on stderr, on a vault of its own. */
async function sayOf(from: string, command: string, ...more: string[]): Promise<string[]> {
  const data = join(temporaryFolder(), 'vault')
  cpSync(from, data, { recursive: true })
  const words = [command, '--data', data, '--master-key-file', masterKey, ...more]
  const { exitCode, stderr } = await runCoffer(words)
  expect([command, exitCode]).toEqual([command, 0])
  return stderr.split('\n')
}

const target = (): string[] => ['--to', join(temporaryFolder(), 'one.backup')]
const endsOf = (...works: string[]): string[] => [...works.map(work => `${work}: 100 %`), '']
const looking = ['pages', 'index', 'values']
/** It compares the search index of the log as well. */
const verifying = [...looking, 'entries']

/** Drops the progress lines that a slow machine prints. */
const onlyEnds = (lines: readonly string[]): string[] =>
  lines.filter(line => !/^[a-z]+: [1-9]\d? %$/.test(line))

describe('a command that works on a large vault', () => {
  test('tells of each work by lines where stderr is no terminal', async () => {
    expect(onlyEnds(await sayOf(large, 'verify'))).toEqual(endsOf(...verifying))
    const copying = ['copying', 'comparing', ...looking]
    expect(onlyEnds(await sayOf(large, 'compact'))).toEqual(endsOf(...looking, ...copying))
    const backup = await sayOf(large, 'backup', ...target())
    expect(onlyEnds(backup)).toEqual(endsOf(...copying, 'writing', 'reading'))
  }, 300_000)

  test('tells of a backup that is restored', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'one.backup')
    const looked = ['verify', '--data', large, '--master-key-file', masterKey, '--json']
    const { stdout } = await runCoffer(looked)
    const { rows } = JSON.parse(stdout) as Pick<Manifest, 'rows'>
    const { size: bytes } = statSync(databaseOf(large))
    const manifest = { format: formatVersion, coffer: '0', created_at: '', bytes, rows }
    const key = newBackupKey(readMasterKey(masterKey), randomBytes)
    writeBackup(file, key, manifest, databaseOf(large))
    const words = ['restore', file, '--master-key-file', masterKey, '--keep-keys']
    const ended = await runCoffer([...words, '--data', join(folder, 'restored')])
    expect(ended.exitCode).toBe(0)
    expect(onlyEnds(ended.stderr.split('\n'))).toEqual(endsOf('reading', ...looking))
    const json = await runCoffer([...words, '--data', join(folder, 'again'), '--json'])
    expect([json.exitCode, json.stderr]).toEqual([0, ''])
  }, 300_000)

  test('draws a bar on a terminal, of which nothing is left', async () => {
    const bytes: Uint8Array[] = []
    const words = ['verify', '--data', large, '--master-key-file', masterKey]
    const child = Bun.spawn([...cofferCommand, ...words], {
      terminal: { cols: 100, rows: 30, data: (_, some) => void bytes.push(Uint8Array.from(some)) },
    })
    expect(await child.exited).toBe(0)
    const text = Buffer.concat(bytes).toString('latin1')
    for (const work of verifying) expect(text).toContain(`\r${work.padEnd(10)} [----`)
    expect(text.split('\r\u001b[K')).toHaveLength(verifying.length + 1)
    expect(text.slice(text.lastIndexOf('\u001b[K') + 3)).toMatch(/^rows: keyring 1, [^\r\n]+\r\n$/)
  }, 300_000)

  test('says nothing of it with --json', async () => {
    expect(await sayOf(large, 'verify', '--json')).toEqual([''])
    expect(await sayOf(large, 'backup', ...target(), '--json')).toEqual([''])
  }, 300_000)
})

test('a command that works on a small vault says nothing of it', async () => {
  for (const command of ['verify', 'compact']) {
    expect(await sayOf(small, command)).toEqual([''])
  }
  expect(await sayOf(small, 'backup', ...target())).toEqual([''])
}, 300_000)
