/**
 * `docs/move-data.md`: its map and its commands are used as they are written.
 * @module
 */
import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import type { RuleRequest } from '../../src/client/index.ts'
import { startVault } from '../../src/testing/index.ts'
import { temporaryFolder } from '../support/folders.ts'
import { makePath } from '../support/page.ts'

const page = readFileSync(resolve(import.meta.dir, '../../docs/move-data.md'), 'utf8')
const blocks = [...page.matchAll(/```sh\n([^`]+)```/g)].map(([, block = '']) => block.trim())

test('the commands of docs/move-data.md do what they are for, as they stand', async () => {
  await using vault = await startVault()
  const cwd = temporaryFolder()
  const put = (name: string, text: string) => writeFileSync(join(cwd, name), text, { mode: 0o600 })
  const [rules = '', map = ''] = [...page.matchAll(/```json\n([^`]+)```/g)].map(([, json]) => json)
  put('map.json', map)
  put('rules.json', rules)
  const row = 'c-17,4242 4242 4242 4242,12/2031,ada@navy.example'
  put('rows.csv', `customer,Card number,expiry,email\r\n${row}\r\n`)
  const { key } = await vault.application({
    type: 'private',
    rules: JSON.parse(rules) as RuleRequest[],
  })
  const identity = await generateX25519Identity()
  put('key.txt', identity)
  const env = {
    PATH: makePath(cwd),
    COFFER_ADDR: vault.address,
    COFFER_KEY: key,
    RECIPIENT: await identityToRecipient(identity),
  }
  expect(blocks).toHaveLength(5)
  const made = 'coffer init --data vault --master-key-file master.key --key-file management.key'
  for (const block of [made, ...blocks]) {
    const child = Bun.spawn(['sh', '-ec', block], { cwd, env, stdout: 'pipe', stderr: 'pipe' })
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
    // Progress lines, which come on a busy machine only.
    const said = stderr.replaceAll(/^\d+ (?:rows|tokens) .*\n/gm, '')
    expect([block, await child.exited, said]).toEqual([block, 0, ''])
    expect(stdout.length).toBeGreaterThan(0)
    if (block.includes('token search')) expect(stdout.match(/c-17-card/g)).toHaveLength(2)
  }
  expect(readFileSync(join(cwd, 'ids.csv'), 'utf8')).toBe('line,id\n2,c-17-card\n')
  expect((await vault.client().tokens.listPage()).pagination.total_items).toBe(0)
}, 300_000)
