/**
 * `docs/search.md`: its commands are used as they are written. `start.test.ts` runs its program.
 * @module
 */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { startVault } from '../../src/testing/index.ts'
import { temporaryFolder } from '../support/folders.ts'
import { makePath } from '../support/page.ts'

const page = readFileSync(resolve(import.meta.dir, '../../docs/search.md'), 'utf8')

test('the commands of docs/search.md do what they are for, as they stand', async () => {
  await using vault = await startVault()
  await vault.seed([
    { type: 'card', data: { number: '4242424242424242' } },
    { type: 'email', data: 'ada@navy.example', search_indexes: [] },
  ])
  const cwd = temporaryFolder()
  const env = {
    PATH: makePath(cwd),
    COFFER_ADDR: vault.address,
    COFFER_KEY: vault.keys.private,
  }
  const blocks = [...page.matchAll(/```sh\n([^`]+)```/g)].map(([, block = '']) => block)
  const child = Bun.spawn(['sh', '-ec', blocks.join('')], { cwd, env, stdout: 'pipe' })
  const told = (await child.stdout.text()).split('\n')
  expect([await child.exited, told]).toEqual([
    0,
    [
      '1 token would get these search indexes; 0 had them before.',
      '1 token got these search indexes; 0 had them before.',
      '1 token got these search indexes; 0 had them before.',
      '',
    ],
  ])
  for (const query of ['data:4242 AND data:42424242', 'data:navy.example']) {
    const { pagination } = await vault.client().tokens.searchPage({ query })
    expect([query, pagination.total_items]).toEqual([query, 1])
  }
}, 300_000)
