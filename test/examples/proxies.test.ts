/**
 * `examples/haproxy` and `examples/nginx`, run in front of two vaults: the first of three
 * workers on a socket that its manager holds, the second of one process on its own port.
 *
 * The second is a copy of the first, in the place of one over the same database: both know the same
 * keys and the same token, and no test asks one for what the other was given.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, readFileSync, readdirSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { selfSigned, type CertificateFiles } from '../support/certificates.ts'
import { runCoffer } from '../support/coffer-process.ts'
import { askOnce, type Answer, type Connection, type Target } from '../support/connection.ts'
import { temporaryFolder } from '../support/folders.ts'
import { findPort } from '../support/free-port.ts'
import { beginLoad } from '../support/load.ts'
import { hasProxies, startProxy, type Proxy, type ProxyName } from '../support/proxies.ts'
import { makeRestartable, type RestartableVault } from '../support/restartable-vault.ts'
import { openListener } from '../support/service-manager.ts'
import { until } from '../support/until.ts'
import { countConnections, workersOf } from '../support/worker-processes.ts'

const number = '4242424242424242'
const names = ['haproxy', 'nginx'] as const
const permissions = ['token:create', 'token:read', 'token:use']
const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
const trusting = ['--trusted-proxies', '127.0.0.1', '--check-path', '/up']
const served = [...trusting, '--drain-seconds', '5', '--log-requests', 'all']

/** It ends what hangs: two starts and two ends, on a machine that may be busy. */
const restartMsMax = 600_000
/** More than buffers hold, and less than the vault takes. */
const longChars = 900_000

/** Asks from an address of loopback that is no proxy's. */
function curl(...words: readonly string[]) {
  const command = ['curl', '-sS', '--interface', '127.0.0.2', '-w', '\n%{http_code}', ...words]
  const { stdout, stderr } = Bun.spawnSync(command)
  const [, text = '', status] = /^([^]*)\n(\d+)$/.exec(stdout.toString()) ?? []
  return { status: Number(status), text, stderr: stderr.toString() }
}

/** The paths of all files below a folder that hold one of some texts. */
const filesWith = (folder: string, ...texts: readonly string[]): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => texts.some(text => readFileSync(path, 'latin1').includes(text)))

/** @returns a function that gives all files made there meanwhile, also those that are gone */
function watchFiles(folder: string): () => Promise<readonly string[]> {
  const made = new Set<string>()
  const watcher = watch(folder, (_, name) => made.add(String(name)))
  return async () => {
    writeFileSync(join(folder, 'last'), '')
    await until(() => made.delete('last'))
    watcher.close()
    return [...made]
  }
}

/** Creates and reads in turn. */
function askInTurn(key: string, name: ProxyName): (connection: Connection) => Promise<Answer> {
  let count = 0
  return connection => {
    count += 1
    if (count % 2 === 0) return connection.ask('GET', '/tokens/kept', { key })
    const body = { id: `${name}-${count}`, type: 'token', data: count }
    return connection.ask('POST', '/tokens', { key, body })
  }
}

/** Sends a long body without a key: the vault answers amid it, and ends the connection. */
async function sendUnread(port: number): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  let isOver = false
  const over = () => {
    isOver = true
  }
  socket.on('error', over).on('close', over).resume()
  const head = `POST /tokens HTTP/1.1\r\nHost: x\r\nContent-Length: ${longChars}\r\n\r\n`
  socket.write(`${head}${'x'.repeat(200_000)}`)
  for (let piece = 0; piece < 14 && !isOver; piece += 1) {
    socket.write('x'.repeat(50_000))
    await sleep(3)
  }
  socket.destroy()
}

const ofPort = (port: number): Target => ({ hostname: '127.0.0.1', port })

/** @returns the vaults, which run, and the key of an application that reveals */
async function startVaults([firstPort, secondPort]: readonly [number, number], listener: number) {
  const root = temporaryFolder()
  const [data, copy, file] = [join(root, 'first'), join(root, 'second'), join(root, 'rules.json')]
  writeFileSync(file, JSON.stringify(rules))
  await runCoffer(['init', '--data', data])
  const shop = ['--name', 'Shop', '--type', 'private', '--rules', file, '--json']
  const { stdout } = await runCoffer(['app', 'create', '--data', data, ...shop])
  const { key } = JSON.parse(stdout) as { key: string }
  cpSync(data, copy, { recursive: true })
  const [first, second] = [
    makeRestartable(['serve', '--data', data, ...served, '--workers', '3'], listener),
    makeRestartable(['serve', '--data', copy, ...served, '--port', String(secondPort)]),
  ]
  await Promise.all([first.start(), second.start()])
  const body = { id: 'kept', type: 'card', data: { number } }
  for (const port of [firstPort, secondPort]) {
    expect((await askOnce(ofPort(port), 'POST', '/tokens', { key, body })).status).toBe(201)
  }
  return { key, vaults: [first, second] as const }
}

// .ci/run installs them.
describe.skipIf(!hasProxies)('behind a proxy', () => {
  let files: CertificateFiles
  let vaults: readonly [RestartableVault, RestartableVault]
  let ports: readonly [number, number]
  let key: string
  const proxies = new Map<ProxyName, Proxy>()

  beforeAll(async () => {
    files = selfSigned(temporaryFolder(), 'proxy')
    const { file, port } = openListener()
    ports = [port, Number(findPort())]
    ;({ key, vaults } = await startVaults(ports, file))
    for (const name of names) proxies.set(name, await startProxy(name, ports, files))
  }, 600_000)
  afterAll(async () => {
    for (const proxy of proxies.values()) await proxy.stop()
    for (const vault of vaults) await vault.kill()
  })

  const find = (name: ProxyName): Proxy => {
    const proxy = proxies.get(name)
    if (proxy === undefined) throw new Error(`${name} was not started`)
    return proxy
  }
  const targetOf = (name: ProxyName): Target => ({
    ...ofPort(find(name).port),
    tls: { ca: readFileSync(files.cert, 'utf8') },
  })
  const curlTo = ({ port }: Proxy, path: string, ...words: readonly string[]) => {
    const asking = ['--cacert', files.cert, '-H', `SVC-API-KEY: ${key}`]
    const json = ['-H', 'Content-Type: application/json']
    return curl(...asking, ...json, ...words, `https://localhost:${port}${path}`)
  }

  /** There and back, to a caller that is slow to read. */
  function passLongBodies(proxy: Proxy): void {
    const file = join(temporaryFolder(), 'body.json')
    const asked = {
      number: "{{ kept | json: '$.number' }}",
      old: number,
      long: 'x'.repeat(longChars),
    }
    writeFileSync(file, JSON.stringify(asked))
    const { status, text } = curlTo(proxy, '/detokenize', '-d', `@${file}`, '--limit-rate', '500k')
    expect([status, text === JSON.stringify({ ...asked, number })]).toEqual([200, true])
  }

  test.each(names)('%s passes on what callers make and read', async name => {
    const target = targetOf(name)
    const body = { id: `made-by-${name}`, type: 'card', data: { number } }
    const made = await askOnce(target, 'POST', '/tokens', { key, body })
    expect(made.status).toBe(201)
    expect(made.text).not.toContain(number)
    const read = await askOnce(target, 'GET', '/tokens/kept', { key })
    expect(JSON.parse(read.text)).toMatchObject({ id: 'kept', data: { number } })
    expect((await askOnce(target, 'GET', '/tokens/kept')).status).toBe(401)
    const plain = await fetch(`http://127.0.0.1:${find(name).port}/up`).catch(() => undefined)
    expect(plain?.ok).not.toBe(true)
  })

  test.each(names)('%s writes no body to a file, and to its log nothing of it', async name => {
    const proxy = find(name)
    const ended = watchFiles(proxy.temporary)
    passLongBodies(proxy)
    const query = '/tokens?metadata.order=planted'
    expect(curlTo(proxy, query).status).toBe(200)
    const tooLong = join(temporaryFolder(), 'too-long.json')
    writeFileSync(tooLong, `"${number}${'x'.repeat(1024 * 1024)}"`)
    expect(curlTo(proxy, '/tokens', '-d', `@${tooLong}`).status).toBe(413)
    expect(await ended()).toEqual([])
    await until(() => proxy.log().includes(' 413 '))
    expect(proxy.log()).toMatch(/127\.0\.0\.2 .*\bGET 200 /)
    expect(filesWith(proxy.folder, number, key, 'kept', 'planted')).toEqual([])
  })

  test('without what its example says of buffers nginx writes bodies to files', async () => {
    const without = { 'proxy_request_buffering off;': '', 'proxy_buffering off;': '' }
    const proxy = await startProxy('nginx', ports, files, without)
    try {
      const ended = watchFiles(proxy.temporary)
      passLongBodies(proxy)
      expect((await ended()).length).toBe(2)
    } finally {
      await proxy.stop()
    }
  })

  test('nginx leaves no vault that has refused a body unread', async () => {
    const proxy = await startProxy('nginx', ports, files, { '/dev/null emerg': 'stderr' })
    const failed = () => proxy.log().split('while sending request to upstream').length - 1
    const target = { ...targetOf('nginx'), port: proxy.port }
    const statuses: number[] = []
    try {
      while (failed() < 4) {
        await sendUnread(proxy.port)
        statuses.push((await askOnce(target, 'GET', '/tokens/kept', { key })).status)
      }
      expect(statuses).toEqual(statuses.map(() => 200))
    } finally {
      await proxy.stop()
    }
  })

  test(
    'restarts of vaults lose no request, and their logs have who asked',
    async () => {
      for (const name of names) {
        for (const more of [[], ['-H', 'X-Forwarded-For: 203.0.113.9']]) {
          expect(curlTo(find(name), '/tokens/absent', ...more).status).toBe(404)
        }
      }
      const [first, second] = vaults
      const endings = names.map(name => beginLoad(targetOf(name), askInTurn(key, name)))
      await first.end()
      await first.start()
      const workers = () => [...workersOf(first.pid()).values()]
      await until(() => workers().some(pid => countConnections(pid, ports[0]) > 0))
      // Nginx finds out by a request that nobody listens on a port any more.
      const ofNginx = await endings[1]?.()
      await second.end()
      await second.start()
      const ofHaproxy = await endings[0]?.()
      for (const figures of [ofNginx, ofHaproxy]) {
        expect(figures?.failures).toEqual([])
        expect(figures?.requests).toBeGreaterThan(0)
      }
      const lines = vaults.flatMap(vault => vault.requestLines())
      const absent = lines.filter(line => line['status'] === 404)
      expect(absent.map(line => line['client_address'])).toEqual(Array(4).fill('127.0.0.2'))
    },
    restartMsMax,
  )
})
