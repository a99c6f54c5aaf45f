/**
 * `coffer serve` under a service manager: what it tells of itself, and a socket that it is handed.
 * Restarts under load are in `restarts-under-load.test.ts`.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { selfSigned } from '../support/certificates.ts'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { hear, openListener, startService, untilTold } from '../support/service-manager.ts'
import { shakeHands } from '../support/tls-server.ts'
import { until } from '../support/until.ts'
import { workerOf } from '../support/worker-processes.ts'

let root: string
let made = 0
beforeAll(() => {
  root = temporaryFolder()
})

async function makeVault(): Promise<string> {
  const data = join(root, `data-${(made += 1)}`)
  await runCoffer(['init', '--data', data])
  return data
}

const countOf = (messages: readonly string[], message: string): number =>
  messages.filter(each => each === message).length

describe.each([
  ['one process', []],
  ['three workers', ['--workers', '3']],
])('a service manager of %s', (_, flags) => {
  test('hears of readiness, a reload, the watchdog and the end', async () => {
    const notify = `@coffer-test-${process.pid}-${made}`
    const told = hear(notify)
    const words = ['serve', '--data', await makeVault(), '--port', '0', ...flags]
    const { child } = startService(words, { notify, watchdogUsec: 400_000 })
    expect(await untilTold(told, 'READY=1')).toMatch(
      /^READY=1\nSTATUS=Listens on http:\/\/127\.0\.0\.1:\d+/,
    )
    child.kill('SIGHUP')
    expect(await untilTold(told, 'RELOADING=1')).toMatch(/^RELOADING=1\nMONOTONIC_USEC=\d{6,}$/)
    await until(() => told.messages().filter(each => each.startsWith('READY=1')).length === 2)
    await until(() => countOf(told.messages(), 'WATCHDOG=1') > 3)
    child.kill('SIGTERM')
    expect(await untilTold(told, 'STOPPING=1')).toStartWith('STOPPING=1\nSTATUS=')
    expect(await child.exited).toBe(0)
    const order = told.messages().map(each => each.split('=')[0])
    expect(order.indexOf('READY')).toBeLessThan(order.indexOf('STOPPING'))
    told.close()
  })
})

test('a worker that hangs keeps the manager from hearing that the service is well', async () => {
  const notify = join(root, 'hanging')
  const told = hear(notify)
  const words = ['serve', '--data', await makeVault(), '--port', '0', '--workers', '2']
  const { child } = startService(words, { notify, watchdogUsec: 200_000 })
  await until(() => countOf(told.messages(), 'WATCHDOG=1') > 2)
  const worker = workerOf(child.pid, 0)
  process.kill(worker, 'SIGSTOP')
  let before = -1
  await until(async () => {
    const now = countOf(told.messages(), 'WATCHDOG=1')
    const isSilent = now === before
    before = now
    await Bun.sleep(500)
    return isSilent
  }, 300_000)
  process.kill(worker, 'SIGCONT')
  const silent = countOf(told.messages(), 'WATCHDOG=1')
  await until(() => countOf(told.messages(), 'WATCHDOG=1') > silent, 120_000)
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
})

describe('a vault that drains', () => {
  test('serves on, ends connections with their answers, and says so at /readyz', async () => {
    const { file: listener, port } = openListener()
    const notify = join(root, 'draining')
    const told = hear(notify)
    const words = ['serve', '--data', await makeVault(), '--ops-port', '0', '--drain-seconds', '3']
    const { child } = startService(words, { listener, notify })
    await untilTold(told, 'READY=1')
    const reader = child.stdout.getReader()
    const ready = new TextDecoder().decode((await reader.read()).value)
    const ops = /on (http:\S+)\n/.exec(ready)?.[1] ?? ''
    const ask = () => fetch(`http://127.0.0.1:${port}/applications/key`)
    expect((await ask()).headers.get('connection')).not.toBe('close')
    expect((await fetch(`${ops}/readyz`)).status).toBe(200)
    child.kill('SIGTERM')
    await untilTold(told, 'STOPPING=1')
    const answer = await ask()
    expect([answer.status, answer.headers.get('connection')]).toEqual([401, 'close'])
    const readiness = await fetch(`${ops}/readyz`)
    expect([readiness.status, await readiness.text()]).toEqual([503, 'not ready: stopping\n'])
    expect(await child.exited).toBe(0)
  })
})

describe('a socket that is handed over', () => {
  test('serves TLS, whose certificates are read anew on it', async () => {
    const [one, two] = [selfSigned(root, 'one'), selfSigned(root, 'two')]
    const [cert, key] = [join(root, 'served.pem'), join(root, 'served.key')]
    const put = (from: typeof one) => {
      copyFileSync(from.cert, cert)
      copyFileSync(from.key, key)
      chmodSync(key, 0o600)
    }
    put(one)
    const { file: listener, port } = openListener()
    const notify = join(root, 'tls')
    const told = hear(notify)
    const tls = ['--tls-cert', cert, '--tls-key', key]
    const { child, stderr } = startService(['serve', '--data', await makeVault(), ...tls], {
      listener,
      notify,
    })
    expect(await untilTold(told, 'READY=1')).toContain(`https://127.0.0.1:${port}`)
    const shown: string[] = []
    for (const next of [two, one, two]) {
      shown.push((await shakeHands(port)).name)
      put(next)
      const readies = () => told.messages().filter(each => each.startsWith('READY=1')).length
      const before = readies()
      child.kill('SIGHUP')
      await until(() => readies() > before, 120_000)
    }
    shown.push((await shakeHands(port)).name)
    expect(shown).toEqual(['one', 'two', 'one', 'two'])
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
    expect((await stderr).match(/tls_reloaded/g)).toHaveLength(3)
  })

  test.each([
    ['more than one', '2'],
    ['no number of them', 'x'],
  ])('is refused as %s', async (_, count) => {
    const data = await makeVault()
    const command = ['sh', '-c', `LISTEN_FDS=${count} LISTEN_PID=$$ exec "$@"`, 'sh']
    const { exitCode, stderr } = await runCoffer(['serve', '--data', data], { prefix: command })
    expect([exitCode, stderr]).toEqual([
      1,
      'coffer: LISTEN_FDS: expected one socket: name one ListenStream= alone\n',
    ])
  })

  test('is refused where it does not listen, and taken by nobody else', async () => {
    const data = await makeVault()
    const command = ['sh', '-c', 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$@" 3</dev/null', 'sh']
    const { exitCode, stderr } = await runCoffer(['serve', '--data', data], { prefix: command })
    expect(exitCode).toBe(1)
    expect(stderr).toStartWith('coffer: LISTEN_FDS: expected one socket that listens on a port')
    const env = { LISTEN_FDS: '1', LISTEN_PID: '1' }
    const other = await runCoffer(['serve', '--data', join(root, 'none')], { env })
    expect(other.stderr).not.toContain('LISTEN_FDS')
  })
})
