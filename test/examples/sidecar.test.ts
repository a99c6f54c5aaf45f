/**
 * The example of a shop beside Coffer on a Unix socket, as a reader would run it: `coffer init`,
 * an application for the shop, `coffer serve --socket`, the shop, orders.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const app = resolve(import.meta.dir, '../../examples/sidecar/app.ts')
const card = { number: '4242424242424242' }

let folder: string
let data: string
let key: string
let vault: Running
let shop: Shop

const serve = () => startCoffer(['serve', '--data', data, '--socket', join(folder, 'vault.sock')])

/** The key of an application that may create cards and read their masks. */
async function makeKey(): Promise<string> {
  const file = join(folder, 'shop.key')
  const grants = ['--type', 'private', '--permission', 'token:create', 'token:read']
  const made = await runCoffer(['app', 'create', '--data', data, ...grants, '--key-file', file])
  expect([made.exitCode, made.stderr]).toEqual([0, ''])
  return readFileSync(file, 'utf8').trim()
}

interface Shop {
  readonly address: string
  end(): Promise<string>
}

async function startShop(shopKey: string): Promise<Shop> {
  const child = Bun.spawn([process.execPath, app], {
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      ORDERS: join(folder, 'orders.sqlite'),
      VAULT_SOCKET: join(folder, 'vault.sock'),
      VAULT_KEY: shopKey,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const first = await child.stdout.getReader().read()
  if (first.done) throw new Error(`the shop did not start: ${await child.stderr.text()}`)
  return {
    address: new TextDecoder().decode(first.value).trim().split(' ').at(-1) ?? '',
    async end() {
      child.kill()
      await child.exited
      return child.stderr.text()
    },
  }
}

beforeAll(async () => {
  folder = temporaryFolder()
  data = join(folder, 'vault')
  await runCoffer(['init', '--data', data])
  key = await makeKey()
  vault = await serve()
  shop = await startShop(key)
}, 300_000)
afterAll(async () => {
  await shop.end()
  await vault.end('SIGTERM')
})

const order = (body: unknown, { address } = shop) =>
  fetch(`${address}/orders`, { method: 'POST', body: JSON.stringify(body) })

const show = (id: number, { address } = shop) => fetch(`${address}/orders/${id}`)

describe('a shop beside the vault', () => {
  test('keeps the token id of a card and shows its last four digits', async () => {
    const answer = await order(card)
    expect(answer.status).toBe(201)
    const { id } = (await answer.json()) as { id: number }
    expect(await (await show(id)).json()).toEqual({ card: 'XXXXXXXXXXXX4242' })
    const kept = readFileSync(join(folder, 'orders.sqlite'), 'latin1')
    expect(kept).toMatch(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/)
    expect(kept).not.toContain(card.number)
    expect(kept).not.toContain('4242424')
  })

  test('tells what is wrong with a card, and never repeats it', async () => {
    const answer = await order({ number: '4242424242424241' })
    const text = await answer.text()
    expect([answer.status, text]).toEqual([400, expect.stringContaining('check digit')])
    expect(text).not.toContain('4242424242424241')
    expect((await show(999)).status).toBe(404)
  })

  test('goes on with a vault that is started again', async () => {
    const { id } = (await (await order(card)).json()) as { id: number }
    await vault.end('SIGTERM')
    expect((await show(id)).status).toBe(502)
    vault = await serve()
    expect((await show(id)).status).toBe(200)
  })

  test('with a wrong key says in its log alone why there are no cards', async () => {
    const stranger = await startShop('key_nobody')
    const answer = await order(card, stranger)
    expect([answer.status, await answer.text()]).toEqual([
      502,
      '{"error":"cards cannot be had now"}',
    ])
    const log = await stranger.end()
    expect(log).toStartWith('vault: unauthenticated: ')
    expect(log).not.toContain('key_nobody')
  })
})

test('the example is short enough to be read at once', () => {
  expect(readFileSync(app, 'utf8').split('\n').length).toBeLessThan(60)
})

test('the socket is for its owner alone', () => {
  expect(statSync(join(folder, 'vault.sock')).mode & 0o077).toBe(0)
})
