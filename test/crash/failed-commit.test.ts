/**
 * A commit that the disk refuses: no answer claims it, the process ends by itself, and everything
 * answered before is there after the next start.
 * @module
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { requestOf } from '../support/vault.ts'

/** In blocks of 512 bytes: more than the folder that `init` makes, but soon full. */
const fileBlocksMax = 4_096

interface Vault {
  readonly data: string
  readonly socket: string
}

const send = async (vault: Vault, method: string, path: string, key: string, body?: unknown) => {
  const request = requestOf(method, path, { key, ...(body === undefined ? {} : { body }) })
  const response = await fetch(request, { unix: vault.socket })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/**
 * Creates tokens until one is not answered with 201.
 * @returns the ids of the others, and the last status; `undefined` if the server was gone, since
 * the commit that failed was one of its own, of the audit log
 */
async function fill(vault: Vault, key: string) {
  const ids: string[] = []
  for (;;) {
    const id = `token-${ids.length}`
    const body = { id, type: 'token', data: 'x'.repeat(50_000) }
    const answer = await send(vault, 'POST', '/tokens', key, body).catch(() => undefined)
    if (answer?.status !== 201) return { ids, last: answer?.status }
    ids.push(id)
  }
}

/** @returns the status of the create whose commit failed, as `fill` */
async function failOnce(): Promise<number | undefined> {
  const folder = temporaryFolder()
  const vault = { data: join(folder, 'data'), socket: join(folder, 'vault.sock') }
  const made = await runCoffer(['init', '--data', vault.data, '--json'])
  const manager = String((JSON.parse(made.stdout) as { key: string }).key)
  const args = ['serve', '--data', vault.data, '--socket', vault.socket]
  const limit = `ulimit -f ${fileBlocksMax}; trap '' XFSZ; exec "$@"`
  const failing = await startCoffer(args, { prefix: ['sh', '-c', limit, 'sh'] })
  const permissions = ['token:create', 'token:read']
  const application = { name: 'writer', type: 'private', permissions }
  const key = String((await send(vault, 'POST', '/applications', manager, application)).body['key'])
  const { ids, last } = await fill(vault, key)
  expect(ids.length).toBeGreaterThan(2)
  expect(await failing.exited).not.toBe(0)
  expect(await failing.stderr).toContain('"event":"store_failed"')

  const again = await startCoffer(args)
  for (const id of ids) {
    expect([id, (await send(vault, 'GET', `/tokens/${id}`, key)).status]).toEqual([id, 200])
  }
  expect((await send(vault, 'POST', '/tokens', key, { type: 'token', data: 1 })).status).toBe(201)
  expect(await again.end('SIGTERM')).toBe(0)
  return last
}

// proves S68
test('a failed commit is answered 503 and ends the process; nothing answered is lost', async () => {
  let last = await failOnce()
  while (last === undefined) last = await failOnce()
  expect(last).toBe(503)
}, 300_000)
