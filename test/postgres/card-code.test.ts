/**
 * Codes of cards that two vaults change in one database at once.
 * @module
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'
import { addReader, ask, serve } from './served.ts'

const rounds = 60
const number = '4242424242424242'

/** Prints the number of a round as three digits. */
const codeOf = (round: number): string => String(100 + round)

// .ci/run installs it.
test.skipIf(!isPostgresThere)(
  'a code that two vaults change at once is never shown with the data of another moment',
  async () => {
    const server = await sharedPostgres()
    const url = server.url(nextSchema())
    const root = temporaryFolder()
    const at = (name: string) => join(root, name)
    const made = await runCoffer(['init', '--data', at('one'), '--store', url, '--json'])
    const { key } = JSON.parse(made.stdout) as { key: string }
    const joining = ['--store', url, '--master-key-file', join(at('one'), 'master.key')]
    const sockets = [at('one.sock'), at('two.sock')] as const
    const vaults = [
      await serve(at('one'), sockets[0]),
      await serve(at('two'), sockets[1], ...joining),
    ]
    try {
      const reader = await addReader(sockets[0], key)
      const statuses = new Set<number>()
      const change = async (socket: string, round: number): Promise<void> => {
        const code = codeOf(round)
        const data = { number, cvc: code, pair: code }
        await ask(socket, reader, '/tokens', { id: 'card', type: 'card', data })
        const patch = { data: { cvc: code, pair: code } }
        const { status } = await ask(socket, reader, '/tokens/card', patch, 'PATCH')
        statuses.add(status)
        if (round % 7 === 0) await ask(socket, reader, '/tokens/card', undefined, 'DELETE')
      }
      const look = async (socket: string): Promise<unknown> =>
        (await ask(socket, reader, '/tokens/card')).body['data']
      const seen: unknown[] = []
      for (let round = 0; round < rounds; round += 1) {
        const [data] = await Promise.all([
          look(sockets[round % 2 === 0 ? 0 : 1]),
          ...sockets.map(socket => change(socket, round)),
        ])
        if (data !== undefined) seen.push(data)
      }
      expect(seen.length).toBeGreaterThan(0)
      expect(statuses).toContain(200)
      expect([...statuses].filter(status => ![200, 404, 409].includes(status))).toEqual([])
      for (const data of seen as Record<string, unknown>[]) expect(data['cvc']).toBe(data['pair'])
      await ask(sockets[0], reader, '/tokens/card', undefined, 'DELETE')
    } finally {
      for (const vault of vaults) await vault.end('SIGTERM')
    }
    const verified = await runCoffer(['verify', '--data', at('one'), '--store', url, '--json'])
    expect(JSON.parse(verified.stdout)).toMatchObject({ damages: [], rows: { token: 0 } })
  },
)
