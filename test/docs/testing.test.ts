/**
 * `docs/testing.md`: its test passes, its commands print what they say, and its table is of the
 * line that `coffer dev --json` prints.
 * @module
 */
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { blocksOf, makeApplication, makePath, readPage, runIn } from '../support/page.ts'

const page = readPage('docs/testing.md')

test('the test of docs/testing.md passes', async () => {
  const [block = '', ...others] = blocksOf(page, 'ts')
  expect(others).toEqual([])
  const folder = makeApplication()
  writeFileSync(join(folder, 'page.test.ts'), block)
  const { exitCode, stderr } = await runIn(folder, [process.execPath, 'test', 'page.test.ts'])
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining(' 1 pass')])
})

test('the commands of docs/testing.md store a card and read it', async () => {
  const folder = temporaryFolder()
  const [block = '', ...others] = blocksOf(page, 'sh')
  expect(others).toEqual([])
  const env = { PATH: makePath(folder), TMPDIR: folder }
  const { exitCode, stdout } = await runIn(folder, ['sh', '-ec', `${block}; wait`], env)
  expect(exitCode).toBe(0)
  const [made, read] = stdout.split('}{').map(each => /"number":"(\w+)"/.exec(each)?.[1])
  expect([made, read]).toEqual(['XXXXXXXXXXXX4242', '4242424242424242'])
})

test('docs/testing.md shows and explains the members of the line, and no other', async () => {
  const running = await startCoffer(['dev', '--port', '0', '--json'])
  const printed = Object.keys(JSON.parse(running.ready) as object)
  await running.end('SIGTERM')
  const [shown = ''] = blocksOf(page, 'json')
  expect(Object.keys(JSON.parse(shown) as object)).toEqual(printed)
  const [, table = ''] = page.split('| `base_url`')
  const explained = [...`| \`base_url\`${table}`.matchAll(/^\| `(\w+)` \|/gm)]
  expect(explained.map(([, name]) => name)).toEqual(printed)
  expect(running.ready).toBe(`${running.ready.trim()}\n`)
})
