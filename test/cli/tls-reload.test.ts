/**
 * SIGHUP while callers go on: certificates change, and no request fails. `test/slow` does it more
 * often.
 * @module
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { selfSigned } from '../support/certificates.ts'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { askOwn, beginLoad } from '../support/load.ts'
import { reloadUnderLoad } from '../support/reload-under-load.ts'
import { hear, openListener, startService, untilTold } from '../support/service-manager.ts'
import { shakeHands } from '../support/tls-server.ts'

setDefaultTimeout(300_000)

const events = (lines: readonly string[]): (string | undefined)[] =>
  lines.map(line => (JSON.parse(line) as { event?: string }).event)

// proves S33
test('20 new certificates in one process fail no request', async () => {
  const { requests, failures, lines } = await reloadUnderLoad(20, 1)
  expect(failures).toEqual([])
  expect(requests).toBeGreaterThan(100)
  expect(new Set(events(lines))).toEqual(new Set(['tls_reloaded']))
})

test('5 new certificates in each of two workers fail no request', async () => {
  const { failures, lines } = await reloadUnderLoad(5, 2)
  expect(failures).toEqual([])
  expect(new Set(events(lines))).toEqual(new Set(['tls_reloaded']))
})

// proves S33
test('5 new certificates on a socket of a service manager fail no request', async () => {
  const folder = temporaryFolder()
  const at = (name: string) => join(folder, name)
  const { stdout } = await runCoffer(['init', '--data', at('data'), '--json'])
  const { key } = JSON.parse(stdout) as { key: string }
  const certificates = ['one', 'two'].map(name => selfSigned(folder, name))
  const put = (number: number): void => {
    const from = certificates[number % 2]
    copyFileSync(from?.cert ?? '', at('served.pem'))
    copyFileSync(from?.key ?? '', at('served.key'))
    chmodSync(at('served.key'), 0o600)
  }
  put(0)
  const { file: listener, port } = openListener()
  const told = hear(at('notify'))
  const files = ['--tls-cert', at('served.pem'), '--tls-key', at('served.key')]
  const words = ['serve', '--data', at('data'), ...files]
  const { child } = startService(words, { listener, notify: at('notify') })
  await untilTold(told, 'READY=1')
  const target = { hostname: '127.0.0.1', port, tls: { rejectUnauthorized: false } }
  const endLoad = beginLoad(target, askOwn(key))
  for (let count = 1; count <= 5; count += 1) {
    put(count)
    child.kill('SIGHUP')
    while ((await shakeHands(port)).name !== (count % 2 === 0 ? 'one' : 'two')) await Bun.sleep(20)
  }
  const { failures, requests } = await endLoad()
  expect(failures).toEqual([])
  expect(requests).toBeGreaterThan(0)
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
  told.close()
})
