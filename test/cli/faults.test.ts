/**
 * Faults that nobody expects end the process, in one line that repeats no message: an uncaught
 * error, and a primitive that computes wrongly. Hardening L8, T16, C16.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runCoffer, startCoffer, withoutWarnings } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { canary } from '../support/refusal.ts'

const preload = resolve(import.meta.dir, '../support/preloads/fault.ts')

/** The environment of a command in which something goes wrong. */
const faultOf = (name: string) => ({
  BUN_OPTIONS: `--preload=${preload}`,
  FAULT: name,
  FAULT_TEXT: canary,
})

let root: string
let made: string
let key: string

beforeAll(async () => {
  root = temporaryFolder()
  made = join(root, 'made')
  const { stdout } = await runCoffer(['init', '--data', made, '--json'])
  key = (JSON.parse(stdout) as { key: string }).key
})

function copyOfMade(name: string): string {
  const copy = join(root, name.replaceAll(' ', '-'))
  cpSync(made, copy, { recursive: true })
  return copy
}

describe('a serving process', () => {
  // proves S73
  test.each([
    ['a rejection', 'TypeError'],
    ['a rejection without an error', 'an unknown error'],
    ['an exception', 'TypeError'],
    ['an exception without an error', 'an unknown error'],
    ['a microtask', 'TypeError'],
    ['an error event', 'TypeError'],
  ])('is ended by %s, with 1 and one line that repeats nothing', async (name, shown) => {
    const args = ['serve', '--data', copyOfMade(name), '--port', '0']
    const server = await startCoffer(args, { env: faultOf(name) })
    expect(await server.end('SIGUSR2')).toBe(1)
    const stderr = withoutWarnings(await server.stderr)
    expect(stderr).toMatch(/^coffer: stopped by [^\n]+\n$/)
    expect(stderr).toStartWith(`coffer: stopped by ${shown}`)
    expect(stderr).not.toContain(canary)
  })

  test('that is ended so has kept what it answered, and starts again', async () => {
    const data = copyOfMade('kept')
    const args = ['serve', '--data', data, '--socket', join(root, 'kept.sock')]
    const server = await startCoffer(args, { env: faultOf('a rejection') })
    const headers = { 'SVC-API-KEY': key, 'Content-Type': 'application/json' }
    const ask = (path: string, body?: string) =>
      fetch(`http://localhost${path}`, {
        unix: join(root, 'kept.sock'),
        headers,
        ...(body === undefined ? {} : { method: 'POST', body }),
      })
    const ids: string[] = []
    const body = '{"name":"kept","type":"private","permissions":["token:read"]}'
    const add = async (): Promise<void> => {
      const answer = await ask('/applications', body)
      expect(answer.status).toBe(201)
      ids.push(((await answer.json()) as { id: string }).id)
    }
    const addAll = async (): Promise<void> => {
      for (;;) await add()
    }
    const working = Promise.allSettled(Array.from({ length: 8 }, addAll))
    while (ids.length < 20) await Bun.sleep(5)
    expect(await server.end('SIGUSR2')).toBe(1)
    expect((await working).every(({ status }) => status === 'rejected')).toBe(true)
    const again = await startCoffer(args)
    const statuses = await Promise.all(
      ids.map(async id => (await ask(`/applications/${id}`)).status),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(await again.end('SIGTERM')).toBe(0)
  })
})

describe('a primitive that computes otherwise', () => {
  // proves S38
  test.each(['init', 'serve', 'dev', 'app create', 'doctor'])('refuses %s', async command => {
    const isInit = command === 'init'
    const data = isInit ? join(root, 'never-made') : copyOfMade(`untouched by ${command}`)
    const args = [...command.split(' '), ...(command === 'dev' ? [] : ['--data', data])]
    const ended = await runCoffer(args, { env: faultOf('a wrong digest') })
    expect([ended.exitCode, ended.stdout]).toEqual([1, ''])
    expect(ended.stderr).toMatch(/^coffer: the self-test of HMAC-SHA256 failed: [^\n]+\n$/)
    expect(existsSync(data)).toBe(!isInit)
  })
})
