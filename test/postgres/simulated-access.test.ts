/**
 * Simulated changes and limited updates over PostgreSQL: counts are those of real lists.
 * @module
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isPostgresThere, nextSchema, sharedPostgres } from '../support/postgres.ts'
import { ask, serve } from './served.ts'

const containers = ['/a/', '/a/b/', '/a/b/c/', '/b/', '/c/']
const permissions = ['token:read', 'token:search']
const ruled = (...rules: readonly (readonly [container: string, transform: string])[]) =>
  rules.map(([container, transform], at) => ({
    priority: at + 1,
    container,
    transform,
    permissions,
  }))
const before = ruled(['/a/b/', 'redact'], ['/a/', 'mask'], ['/b/', 'reveal'])
const after = ruled(['/a/b/c/', 'mask'], ['/a/', 'reveal'], ['/c/', 'redact'])

interface Change {
  readonly permission: string
  readonly from: string
  readonly to: string
  readonly count: number
}

// .ci/run installs it.
test.skipIf(!isPostgresThere)(
  'counts are the same over PostgreSQL, of folded and new rows',
  async () => {
    const server = await sharedPostgres()
    const url = server.url(nextSchema())
    const root = temporaryFolder()
    const [data, socket] = [join(root, 'one'), join(root, 'one.sock')]
    const made = await runCoffer(['init', '--data', data, '--store', url, '--json'])
    const { key } = JSON.parse(made.stdout) as { key: string }
    const limits = ['--fold-rows', '20', '--new-reveals-max', '10']
    const vault = await serve(data, socket, ...limits)
    const make = async (rules: object) => {
      const { body } = await ask(socket, key, '/applications', {
        name: 'a',
        type: 'private',
        rules,
      })
      return { id: String(body['id']), key: String(body['key']) }
    }
    try {
      const owner = await make([{ ...ruled(['/', 'reveal'])[0], permissions: ['token:create'] }])
      const desk = await make(before)
      const items = Array.from({ length: 105 }, (_, at) => ({
        type: 'token',
        data: at,
        containers: [containers[at % containers.length]],
      }))
      expect((await ask(socket, owner.key, '/tokenize', items)).status).toBe(200)
      const path = '/access/simulate'
      const asked = { application_id: desk.id, proposed: { rules: after } }
      const { body } = await ask(socket, key, path, asked)
      const counts = (body['changes'] as readonly Change[]).map(
        ({ permission, from, to, count }) => `${permission} ${from} ${to} ${count}`,
      )
      const kinds = [
        'redact mask 21',
        'redact reveal 21',
        'mask reveal 21',
        'reveal hidden 21',
        'hidden redact 21',
      ]
      const wanted = permissions.flatMap(permission => kinds.map(kind => `${permission} ${kind}`))
      expect(counts.toSorted()).toEqual(wanted.toSorted())
      const update = (query: string) =>
        ask(socket, key, `/applications/${desk.id}${query}`, { name: 'a', rules: after }, 'PUT')
      expect((await update('')).status).toBe(409)
      const tried = await update('?dry_run=true')
      expect((tried.body['_extras'] as { changes: unknown }).changes).toEqual(body['changes'])
      expect((await update('?confirm=true')).status).toBe(200)
      expect((await ask(socket, key, path, asked)).body['changes']).toEqual([])
    } finally {
      await vault.end('SIGTERM')
    }
  },
)
