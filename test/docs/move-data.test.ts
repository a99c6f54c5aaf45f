/**
 * `docs/move-data.md`: its map and its commands are used as they are written.
 * @module
 */
import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { startVault } from '../../src/testing/index.ts'
import { temporaryFolder } from '../support/folders.ts'
import { makePath } from '../support/page.ts'

const page = readFileSync(resolve(import.meta.dir, '../../docs/move-data.md'), 'utf8')
const blocks = [...page.matchAll(/```sh\n([^`]+)```/g)].map(([, block = '']) => block.trim())

test('the commands of docs/move-data.md do what they are for, as they stand', async () => {
  await using vault = await startVault()
  const cwd = temporaryFolder()
  const put = (name: string, text: string) => writeFileSync(join(cwd, name), text, { mode: 0o600 })
  const [, map = ''] = /```json\n([^`]+)```/.exec(page) ?? []
  put('map.json', map)
  put('rows.csv', 'customer,Card number,expiry\r\nc-17,4242 4242 4242 4242,12/2031\r\n')
  const identity = await generateX25519Identity()
  put('key.txt', identity)
  const env = {
    PATH: makePath(cwd),
    COFFER_ADDR: vault.address,
    COFFER_KEY: vault.keys.private,
    RECIPIENT: await identityToRecipient(identity),
  }
  expect(blocks).toHaveLength(3)
  for (const block of blocks) {
    const child = Bun.spawn(['sh', '-ec', block], { cwd, env, stdout: 'pipe', stderr: 'pipe' })
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
    expect([block, await child.exited, stderr]).toEqual([block, 0, ''])
    expect(stdout.length).toBeGreaterThan(0)
  }
  expect(readFileSync(join(cwd, 'ids.csv'), 'utf8')).toBe('line,id\n2,c-17-card\n')
  expect((await vault.client().tokens.listPage()).pagination.total_items).toBe(0)
}, 60_000)
