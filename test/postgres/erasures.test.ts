/**
 * The lists of two vaults that serve one database: each has the deletes that it has answered.
 * @module
 */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseErasure } from '../../src/rules/erasures.ts'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'
import { addReader, ask, serve } from './served.ts'

const idsOf = (file: string): readonly (string | undefined)[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map(line => parseErasure(line)?.id)

// .ci/run installs it.
// proves S16
test.skipIf(!isPostgresThere)(
  'each vault of a database lists the deletes that it has answered',
  async () => {
    const server = await sharedPostgres()
    const url = server.url(nextSchema())
    const root = temporaryFolder()
    const at = (name: string) => join(root, name)
    const made = await runCoffer(['init', '--data', at('one'), '--store', url, '--json'])
    const { key } = JSON.parse(made.stdout) as { key: string }
    const masterKey = join(at('one'), 'master.key')
    const joining = ['--store', url, '--master-key-file', masterKey]
    const lists = [at('one.erasures'), at('two.erasures')] as const
    const vaults = [
      await serve(at('one'), at('one.sock'), '--erasure-log', lists[0]),
      await serve(at('two'), at('two.sock'), ...joining, '--erasure-log', lists[1]),
    ]
    try {
      const reader = await addReader(at('one.sock'), key)
      const ids = Array.from({ length: 20 }, (_, number) => `listed-${number}`)
      for (const id of ids) {
        const body = { id, type: 'token', data: 'planted-77' }
        expect((await ask(at('one.sock'), reader, '/tokens', body)).status).toBe(201)
      }
      const deletes = ids.map((id, number) => {
        const socket = at(number % 2 === 0 ? 'one.sock' : 'two.sock')
        return ask(socket, reader, `/tokens/${id}`, undefined, 'DELETE')
      })
      expect((await Promise.all(deletes)).map(({ status }) => status)).toEqual(ids.map(() => 204))
      const [even, odd] = [0, 1].map(rest => ids.filter((_, number) => number % 2 === rest))
      expect([idsOf(lists[0]).toSorted(), idsOf(lists[1]).toSorted()]).toEqual([
        even?.toSorted() ?? [],
        odd?.toSorted() ?? [],
      ])
      for (const list of lists) {
        expect(statSync(list).mode & 0o777).toBe(0o600)
        expect(readFileSync(list, 'utf8')).not.toContain('planted')
      }
    } finally {
      for (const vault of vaults) await vault.end('SIGTERM')
    }
    expect(existsSync(join(at('one'), 'store', 'data.mdb'))).toBe(false)
  },
  300_000,
)
