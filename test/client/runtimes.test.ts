/**
 * The typed client as it is published: one file, in Node.js and over Unix sockets, and its size.
 * @module
 */
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createClient } from '../../src/client/index.ts'
import { overSocket } from '../../src/client/socket.ts'
import { printInterface } from '../../scripts/client-types/print.ts'
import { temporaryFolder } from '../support/folders.ts'
import { afterwards, openServed } from './served.ts'

const source = resolve(import.meta.dir, '../../src/client')
const bytesMax = 7.5 * 1_024

async function bundle(entry: string, target: 'browser' | 'node'): Promise<string> {
  const { outputs } = await Bun.build({ entrypoints: [join(source, entry)], target, minify: true })
  return (await outputs[0]?.text()) ?? ''
}

test('the types are those of the interface', async () => {
  const file = Bun.file(join(source, 'interface.ts'))
  expect(await printInterface()).toBe(await file.text())
})

test('it is small, and needs nothing', async () => {
  const text = await bundle('index.ts', 'browser')
  const bytes = gzipSync(text).length
  console.info(`client: ${text.length} bytes, ${bytes} compressed`)
  expect(bytes).toBeLessThanOrEqual(bytesMax)
  expect(text).not.toMatch(/\bimport\b|\brequire\b|\bprocess\b/)
})

const program = `
import { createClient } from './client.mjs'
import { overSocket } from './socket.mjs'
const { ADDRESS: address, KEY: key, SOCKET: path } = process.env
const fetch = path === undefined ? {} : { fetch: overSocket(path) }
const { tokens, tokenize } = createClient({ address, key, ...fetch })
const { id } = await tokens.create({ type: 'card', data: { number: '4242424242424242' } })
const { data } = await tokens.get(id)
await tokenize(Array.from({ length: 150 }, (_, at) => at))
let count = 0
for await (const { type } of tokens.list()) if (type === 'token') count += 1
await tokens.delete(id)
const code = await tokens.get(id).then(() => 'found', error => error.code)
const nobody = createClient({ address: 'http://127.0.0.1:9', key, retries: 1 })
const lost = await nobody.tokens.get(id).catch(error => error.code)
const wrong = createClient({ address, key: () => 'key_secret\\nx' })
const said = await wrong.tokens.get(id).catch(error => error.message)
console.log(JSON.stringify({ number: data.number, count, code, lost, said }))
`
const outcome = {
  number: '4242424242424242',
  count: 150,
  code: 'not_found',
  // The client has tried again before, in every platform.
  lost: 'unreachable',
  // The platform's own error has the key in it.
  said: 'svc-api-key: expected visible ASCII',
}

async function runInNode(env: Readonly<Record<string, string>>, code = program): Promise<unknown> {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'client.mjs'), await bundle('index.ts', 'browser'))
  writeFileSync(join(folder, 'socket.mjs'), await bundle('socket.ts', 'node'))
  writeFileSync(join(folder, 'program.mjs'), code)
  const child = Bun.spawn(['node', 'program.mjs'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...env },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  return JSON.parse(await child.stdout.text())
}

test('it runs in Node.js', async () => {
  const { address, keys } = await openServed(5)
  expect(await runInNode({ ADDRESS: address, KEY: keys.private })).toEqual(outcome)
})

test('a wait that was ended keeps no program running', async () => {
  const headers = { 'retry-after': '30' }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => Response.json({ detail: 'busy' }, { status: 503, headers }),
  })
  afterwards(() => server.stop(true))
  const code = `import { createClient } from './client.mjs'
    const { tokens } = createClient({ address: process.env.ADDRESS, key: 'key_a' })
    const ends = new AbortController()
    setTimeout(() => ends.abort(new Error('the user left')), 200)
    const { message } = await tokens.get('a', { signal: ends.signal }).catch(error => error)
    console.log(JSON.stringify(message))`
  expect(await runInNode({ ADDRESS: server.url.origin }, code)).toBe('the user left')
})

test('it asks over a Unix socket, in Bun and in Node.js', async () => {
  const { app, keys } = await openServed(6)
  const socket = join(temporaryFolder(), 'socket')
  const server = Bun.serve({ ...app.listener, unix: socket })
  afterwards(() => server.stop(true))
  const reach = { address: 'http://vault', key: keys.private }
  const { tokens } = createClient({ ...reach, fetch: overSocket(socket) })
  const { id } = await tokens.create({ type: 'token', data: 'über den Socket' })
  expect((await tokens.get(id)).data).toBe('über den Socket')
  await tokens.delete(id)
  await expect(tokens.get(id)).rejects.toMatchObject({ code: 'not_found' })
  const ended = tokens.get(id, { signal: AbortSignal.abort(new Error('closed')) })
  await expect(ended).rejects.toThrow('closed')
  const env = { ADDRESS: reach.address, KEY: reach.key, SOCKET: socket }
  expect(await runInNode(env)).toEqual(outcome)
  const nowhere = createClient({ ...reach, retries: 0, fetch: overSocket(`${socket}-absent`) })
  await expect(nowhere.tokens.get(id)).rejects.toMatchObject({ code: 'unreachable' })
})

test.each([
  ['099', 'unreachable'],
  ['600', 'unreachable'],
  ['999', 'unreachable'],
  ['205', 'not_coffer'],
])('an answer of the status %s over a Unix socket ends its call alone', async (status, code) => {
  const socket = join(temporaryFolder(), 'socket')
  const other = Bun.listen({
    unix: socket,
    socket: { data: from => void from.end(`HTTP/1.1 ${status} a\r\ncontent-length: 0\r\n\r\n`) },
  })
  afterwards(() => other.stop(true))
  const reach = { address: 'http://vault', key: 'key_a', retries: 0, timeoutMs: 120_000 }
  const { tokens } = createClient({ ...reach, fetch: overSocket(socket) })
  await expect(tokens.get('a')).rejects.toMatchObject({ code })
})
