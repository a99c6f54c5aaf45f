/**
 * The files of settings in `docs/operations.md`: they can be taken, and leave no setting out.
 * @module
 */
import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { countingSettings } from '../../src/settings/config.ts'
import { vaultSchema } from '../../src/settings/serving-settings.ts'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const text = readFileSync(resolve(import.meta.dir, '../../docs/operations.md'), 'utf8')
const files = [...text.matchAll(/```json\n(\{\n[^`]+)```/g)].map(([, block = '']) => block)

const snakeOf = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

test('each file of settings in docs/operations.md can be taken', async () => {
  expect(files.length).toBe(2)
  const path = join(temporaryFolder(), 'coffer.json')
  for (const file of files) {
    writeFileSync(path, file)
    const ended = await runCoffer(['config', 'check', '--config', path])
    expect(ended).toEqual({ exitCode: 0, stdout: 'The settings can be taken.\n', stderr: '' })
  }
})

test('both together name each setting', () => {
  const named = new Set(files.flatMap(file => Object.keys(JSON.parse(file) as object)))
  const settings = [
    ...Object.keys(vaultSchema.properties).map(snakeOf),
    ...countingSettings({}).map(({ name }) => name),
  ]
  expect([...named].toSorted()).toEqual(settings.toSorted())
})

test('the HAProxy settings that docs/operations.md shows are in its example', () => {
  const shown = /```\n(backend [^`]+)```/.exec(text)?.[1] ?? 'nothing'
  const example = resolve(import.meta.dir, '../../examples/haproxy/haproxy.cfg')
  expect(readFileSync(example, 'utf8')).toEndWith(`\n${shown}`)
})
