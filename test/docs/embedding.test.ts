/**
 * The code block of docs/embedding.md, run as it is written but for folder and port.
 * @module
 */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const root = resolve(import.meta.dir, '../..')

test('the page on embedding shows an application that answers below its prefix', async () => {
  const page = readFileSync(join(root, 'docs/embedding.md'), 'utf8')
  const [, block = ''] = /```ts\n([^`]+)```/.exec(page) ?? []
  const data = join(temporaryFolder(), 'vault')
  expect((await runCoffer(['init', '--data', data])).exitCode).toBe(0)
  const code = block
    .replace("'coffer-data'", JSON.stringify(data))
    .replace(/new Elysia(.+)listen\(3000\)/, 'const app = new Elysia$1listen(0)')
  const asked = `console.log((await fetch(app.server!.url + 'vault/tokens/a')).status)`
  const child = Bun.spawn([process.execPath, '-e', `${code}\n${asked}\nprocess.exit(0)`], {
    cwd: root,
    env: { PATH: process.env['PATH'] },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  expect(await child.stdout.text()).toBe('401\n')
})
