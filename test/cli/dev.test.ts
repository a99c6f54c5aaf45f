/**
 * A throw-away vault: gone with the program that started it, and swept where it was killed.
 * @module
 */
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cofferCommand, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const foldersIn = (place: string) =>
  readdirSync(place).filter(name => name.startsWith('coffer-dev-'))

async function until(isSo: () => boolean): Promise<boolean> {
  for (let n = 0; n < 1_500 && !isSo(); n += 1) await Bun.sleep(10)
  return isSo()
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Started by a shell that is then killed. @returns the pid of the vault */
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
  expect(await until(() => !isAlive(pid))).toBe(true)
  expect(foldersIn(place)).toEqual([])
})

test('coffer dev outlives it under nohup', async () => {
  const place = temporaryFolder()
  const pid = await startBelow(place, 'nohup')
  await Bun.sleep(2_500)
  expect(isAlive(pid)).toBe(true)
  process.kill(pid, 'SIGTERM')
  expect(await until(() => !isAlive(pid))).toBe(true)
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
