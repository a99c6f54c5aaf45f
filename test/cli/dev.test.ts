/**
 * A throw-away vault: gone with the program that started it, and swept where it was killed.
 * @module
 */
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cofferCommand, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { until } from '../support/until.ts'

const foldersIn = (place: string) =>
  readdirSync(place).filter(name => name.startsWith('coffer-dev-'))

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Starts a vault by a shell that is then killed. @returns the pid of the vault */
async function startBelow(place: string, before: string): Promise<number> {
  const words = cofferCommand.map(word => `'${word}'`).join(' ')
  const started = `${before} ${words} dev --port 0 --json >'${join(place, 'out')}' 2>&1`
  const script = `${started} & echo $!; wait`
  const env = { PATH: process.env['PATH'], TMPDIR: place }
  const shell = Bun.spawn(['sh', '-c', script], { env, stdout: 'pipe' })
  const { value } = await shell.stdout.getReader().read()
  const pid = Number(new TextDecoder().decode(value).trim())
  const out = join(place, 'out')
  await until(() => (statSync(out, { throwIfNoEntry: false })?.size ?? 0) > 0)
  await Bun.sleep(500)
  shell.kill('SIGKILL')
  await shell.exited
  return pid
}

test('coffer dev ends with the program that started it, and leaves nothing', async () => {
  const place = temporaryFolder()
  const pid = await startBelow(place, '')
  await until(() => !isAlive(pid))
  expect(foldersIn(place)).toEqual([])
})

test('coffer dev outlives it under nohup', async () => {
  const place = temporaryFolder()
  const pid = await startBelow(place, 'nohup')
  await Bun.sleep(2_500)
  expect(isAlive(pid)).toBe(true)
  process.kill(pid, 'SIGTERM')
  await until(() => !isAlive(pid))
})

test('coffer dev sweeps what dead ones left, and nothing that somebody has or is new', async () => {
  const place = temporaryFolder()
  const env = { TMPDIR: place }
  const killed = await startCoffer(['dev', '--port', '0', '--json'], { env })
  await killed.end('SIGKILL')
  const living = await startCoffer(['dev', '--port', '0', '--json'], { env })
  const [left, ...had] = foldersIn(place)
  expect(had).toHaveLength(1)
  const old = new Date(Date.now() - 3_600_000)
  for (const name of foldersIn(place)) utimesSync(join(place, name), old, old)
  for (const name of ['coffer-dev-new', 'coffer-devil']) mkdirSync(join(place, name))
  writeFileSync(join(place, 'coffer-dev-file'), '')
  const next = await startCoffer(['dev', '--port', '0', '--json'], { env })
  const stayed = [left ?? '', ...had].filter(name => existsSync(join(place, name)))
  expect(stayed).toHaveLength(1)
  for (const name of ['coffer-dev-new', 'coffer-devil', 'coffer-dev-file']) {
    expect([name, existsSync(join(place, name))]).toEqual([name, true])
  }
  const { base_url } = JSON.parse(living.ready) as { base_url: string }
  expect((await fetch(`${base_url}/tokens`)).status).toBe(401)
  expect(await next.end('SIGTERM')).toBe(0)
  expect(await living.end('SIGTERM')).toBe(0)
})

test('its status tells what it knows, and no number in the place of what it does not', async () => {
  const running = await startCoffer(['dev', '--port', '0', '--json'])
  const { base_url, management_key: key } = JSON.parse(running.ready) as Record<string, string>
  const answer = await fetch(`${base_url}/status`, { headers: { 'SVC-API-KEY': key ?? '' } })
  const { levels } = (await answer.json()) as { readonly levels: Readonly<Record<string, number>> }
  expect(levels).toMatchObject({ sweep_lag_seconds: 0, unfolded_rows: expect.any(Number) })
  expect(Object.keys(levels)).not.toContain('in_flight')
  expect(await running.end('SIGTERM')).toBe(0)
})

test('it signs its log, so that proofs can be tried', async () => {
  const running = await startCoffer(['dev', '--port', '0', '--json'])
  const { base_url, management_key: key } = JSON.parse(running.ready) as Record<string, string>
  const ask = (path: string) => fetch(base_url + path, { headers: { 'SVC-API-KEY': key ?? '' } })
  const statusOf = async (path: string): Promise<number> => (await ask(path)).status
  expect(await statusOf('/applications')).toBe(200)
  // Others are of the vault's own, before it or behind.
  let entry: { readonly id: string } | undefined
  await until(async () => {
    const { data } = (await (await ask('/logs?size=1')).json()) as { data: { id: string }[] }
    entry = data[0]
    return entry !== undefined
  })
  await until(async () => (await statusOf(`/logs/${entry?.id}/proof`)) === 200)
  expect(await statusOf('/logs/checkpoint')).toBe(200)
  expect(await running.end('SIGTERM')).toBe(0)
})

/** Returns the lines behind the guide, once there are as many as wanted. */
async function linesOf(running: Running, act: (address: string, keys: Keys) => Promise<void>) {
  const [address = ''] = /http:\/\/[\d.:]+/.exec(running.ready) ?? []
  const keyOf = (name: string) =>
    new RegExp(`${name} key +(key_\\w+)`).exec(running.ready)?.[1] ?? ''
  const keys = { manager: keyOf('management'), reader: keyOf('private'), writer: keyOf('public') }
  await act(address, keys)
  expect(await running.end('SIGTERM')).toBe(0)
  return (await running.stdout).split('\n').filter(line => /^\d{3} /.test(line))
}

interface Keys {
  readonly manager: string
  readonly reader: string
  readonly writer: string
}

const asker =
  (address: string) => async (key: string, method: string, path: string, body?: object) => {
    const answer = await fetch(address + path, {
      method,
      headers: { 'SVC-API-KEY': key, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return (await answer.json()) as Record<string, unknown>
  }

test('coffer dev tells of each request why it was refused, masked or hidden', async () => {
  const running = await startCoffer(['dev', '--port', '0'])
  const lines = await linesOf(running, async (address, { manager, reader, writer }) => {
    const ask = asker(address)
    const card = { id: 'dev-card', type: 'card', data: { number: '4242424242424242' } }
    await ask(writer, 'POST', '/tokens', card)
    await ask(writer, 'POST', '/tokens', { id: 'dev-note', type: 'token', data: 'c4n4ry' })
    await ask(reader, 'POST', '/tokens', { ...card, id: 'dev-mask', mask: '{{ data | last4 }}' })
    await ask(reader, 'GET', '/tokens/dev-card')
    await ask(writer, 'GET', '/tokens/dev-card')
    const rules = [
      { priority: 20, container: '/pci/', transform: 'mask', permissions: ['token:read'] },
    ]
    const made = await ask(manager, 'POST', '/applications', {
      name: 'Support desk',
      type: 'private',
      rules,
    })
    const desk = String(made['key'])
    await ask(desk, 'GET', '/tokens/dev-card')
    await ask(desk, 'GET', '/tokens/dev-note')
    await ask(desk, 'GET', '/tokens/c4n4ry')
    await ask('key_c4n4ry', 'GET', '/tokens/dev-card')
    await ask(reader, 'GET', '/tokens?limit=1')
    await ask(reader, 'GET', '/nowhere/c4n4ry')
  })
  const rule = 'rule 20 (/pci/, mask) of "Support desk"'
  expect(lines).toEqual([
    '201 POST /tokens · masked: plain token:create of "Demo browser" decides',
    '201 POST /tokens · data left out, as the token has no mask: ' +
      'plain token:create of "Demo browser" decides',
    '201 POST /tokens · data left out, as its mask makes nothing of it: ' +
      'answers of writes are never in the clear',
    '200 GET /tokens/:id',
    '403 GET /tokens/:id · expected a credential with the permission token:read; ' +
      '"Demo browser" holds token:create, token:update',
    '201 POST /applications',
    `200 GET /tokens/:id · masked: ${rule} decides`,
    '404 GET /tokens/:id · hidden: no rule of "Support desk" covers /general/high/ for token:read',
    '404 GET /tokens/:id · no such token',
    '401 GET /tokens/:id · expected a live API key in the header SVC-API-KEY, ' +
      'and not in Authorization',
    '400 GET /tokens · query.size: unknown parameter: did you mean `size`?',
    '404 GET (no such address) · There is nothing at this address.',
  ])
})
