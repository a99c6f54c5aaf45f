/**
 * A large vault whose server was killed, as a damaged page kills one: the next start looks at every
 * page.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { cpSync, existsSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { pagesCheckedBytesMax } from '../../src/store/core/limits.ts'
import { firstLeafOf, readPages, rootOf } from '../store/data-file.ts'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const applications = 60
const serveOn = (data: string): string[] => ['serve', '--data', data, '--port', '0']

async function createApplications(ready: string, key: string): Promise<void> {
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(ready)?.[0] ?? ''
  for (let count = 0; count < applications; count += 1) {
    const name = `${count} ${'x'.repeat(150)}`
    const body = JSON.stringify({ name, type: 'public', permissions: ['token:create'] })
    const headers = { 'svc-api-key': key, 'content-type': 'application/json' }
    const made = await fetch(`${url}/applications`, { method: 'POST', headers, body })
    expect(made.status).toBe(201)
  }
}

/** @returns a folder whose server was killed, which holds rows in several pages */
async function makeKilled(): Promise<string> {
  const data = join(temporaryFolder(), 'vault')
  const { stdout } = await runCoffer(['init', '--data', data, '--json'])
  const server = await startCoffer(serveOn(data))
  await createApplications(server.ready, (JSON.parse(stdout) as { key: string }).key)
  await server.end('SIGKILL')
  return data
}

/** @returns the page that is zeros then, below the root of a table */
function damage(data: string): number {
  const pages = readPages(join(data, 'store'))
  const page = firstLeafOf(pages, 'rows')
  expect(page).not.toBe(rootOf(pages, 'rows'))
  pages.bytes.fill(0, pages.at(page), pages.at(page + 1))
  pages.save()
  return page
}

describe('after a server that was killed', () => {
  test('a damaged page of a large file ends the start with a line that names it', async () => {
    const data = await makeKilled()
    const sound = join(temporaryFolder(), 'sound')
    cpSync(join(data, 'store', 'data.mdb'), sound)
    const page = damage(data)
    const file = join(data, 'store', 'data.mdb')
    truncateSync(file, pagesCheckedBytesMax + 4_096)
    for (const words of [serveOn(data), [...serveOn(data), '--workers', '3']]) {
      const { exitCode, stderr } = await runCoffer(words)
      expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
      expect(stderr).toContain(`page ${page} of its file is damaged: see coffer verify`)
      expect(exitCode).toBe(1)
    }
    cpSync(sound, file)
    truncateSync(file, pagesCheckedBytesMax + 4_096)
    const server = await startCoffer(serveOn(data))
    expect(await server.end('SIGTERM')).toBe(0)
    expect(existsSync(join(data, 'control'))).toBe(false)
  })
})
