/**
 * The example of a shop that mounts the vault, and of a client that lists its cards, as a reader
 * would run them: `coffer init`, an application, the shop, a checkout, the list.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join, resolve } from 'node:path'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const example = resolve(import.meta.dir, '../../examples/elysia')
const card = { number: '4242424242424242' }

/** Makes a vault, and in it an application that may create tokens and see them whole. */
async function makeVault(data: string): Promise<string> {
  const made = await runCoffer(['init', '--data', data, '--json'])
  const { key: managementKey } = JSON.parse(made.stdout) as { key: string }
  const server = await startCoffer(['serve', '--data', data, '--port', '0'])
  const permissions = ['token:create', 'token:read']
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  const answer = await fetch(`${server.ready.trim().split(' ').at(-1)}/applications`, {
    method: 'POST',
    headers: { 'svc-api-key': managementKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Shop', type: 'private', permissions, rules }),
  })
  const { key } = (await answer.json()) as { key: string }
  await server.end('SIGTERM')
  return key
}

const run = (file: string, args: readonly string[], env: Readonly<Record<string, string>>) =>
  Bun.spawn([process.execPath, join(example, file), ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })

describe('a shop on Elysia', () => {
  let key: string
  let shop: ReturnType<typeof run>
  let address: string

  beforeAll(async () => {
    const data = join(temporaryFolder(), 'vault')
    key = await makeVault(data)
    shop = run('app.ts', [], { COFFER_DATA: data, COFFER_KEY: key, PORT: '0' })
    const first = await shop.stdout.getReader().read()
    if (first.done) throw new Error(`the shop did not start: ${await shop.stderr.text()}`)
    address = new TextDecoder().decode(first.value).trim().split(' ').at(-1) ?? ''
  }, 300_000)
  afterAll(async () => {
    shop.kill()
    await shop.exited
  })

  const checkOut = (body: unknown) =>
    fetch(`${address}/checkout`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  test('keeps of a card its token alone, which the client lists', async () => {
    const answer = await checkOut(card)
    const text = await answer.text()
    expect(answer.status).toBe(200)
    expect(text).not.toContain(card.number)
    const { card: id } = JSON.parse(text) as { card: string }
    const listing = run('list.ts', [`${address}/vault`], { COFFER_KEY: key })
    expect(await listing.stdout.text()).toBe(`${id} ${JSON.stringify(card)}\n`)
    expect(await listing.exited).toBe(0)
  })

  test('a client with a wrong key lists nothing, and says why', async () => {
    const listing = run('list.ts', [`${address}/vault`], { COFFER_KEY: 'key_nobody' })
    expect(await listing.stdout.text()).toBe('')
    expect(await listing.stderr.text()).toBe('The vault answered 401.\n')
  })

  test('takes no checkout without a number', async () => {
    expect((await checkOut({})).status).toBe(422)
  })
})
