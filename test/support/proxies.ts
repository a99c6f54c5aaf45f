/**
 * HAProxy and nginx as `examples` sets them up, except for ports and paths.
 * @module
 */
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { CertificateFiles } from './certificates.ts'
import { temporaryFolder } from './folders.ts'
import { findPort } from './free-port.ts'
import { until } from './until.ts'

export type ProxyName = 'haproxy' | 'nginx'

/** Debian installs them where only root's path leads. */
const path = `${process.env['PATH']}:/usr/sbin`

/** `scripts/install-packaging-tools` installs both. */
export const hasProxies = ['haproxy', 'nginx'].every(it => Bun.which(it, { PATH: path }) !== null)

export interface Proxy {
  readonly pid: number
  readonly port: number
  /** Folder of all its files, with temporary ones in `temporary`. */
  readonly folder: string
  readonly temporary: string
  readonly log: () => string
  readonly stop: () => Promise<void>
}

type Changes = Readonly<Record<string, string>>

/** Each part must be there, or the example has changed. */
function readExample(name: string, changes: Changes): string {
  let text = readFileSync(resolve(import.meta.dir, '../../examples', name), 'utf8')
  for (const [before, after] of Object.entries(changes)) {
    if (!text.includes(before)) throw new Error(`examples/${name}: no ${before}`)
    text = text.replaceAll(before, after)
  }
  return text
}

/** So small that an answer not read by its caller must be buffered elsewhere. */
const sendBytes = 16_384
/** A busy machine may need more than the minute of the examples to start a vault. */
const answerSeconds = 600

interface Places {
  readonly folder: string
  readonly temporary: string
  readonly port: string
  readonly vaultPorts: readonly [string, string]
  readonly files: CertificateFiles
}

function writeHaproxy(places: Places, changes: Changes): readonly string[] {
  const { folder, port, vaultPorts, files } = places
  const both = join(temporaryFolder(), 'both.pem')
  writeFileSync(both, readFileSync(files.cert, 'utf8') + readFileSync(files.key, 'utf8'))
  const config = join(folder, 'haproxy.cfg')
  const own = {
    '/etc/haproxy/coffer.pem': both,
    'bind :443': `bind 127.0.0.1:${port}`,
    'server 60s': `server ${answerSeconds}s`,
  }
  const vaults = { '127.0.0.1:3333': vaultPorts[0], '127.0.0.1:3334': vaultPorts[1] }
  writeFileSync(config, readExample('haproxy/haproxy.cfg', { ...own, ...vaults, ...changes }))
  return ['haproxy', '-db', '-f', config]
}

function writeNginx(places: Places, changes: Changes): readonly string[] {
  const { folder, temporary, port, vaultPorts, files } = places
  const own = {
    '/etc/nginx/coffer.pem': files.cert,
    '/etc/nginx/coffer.key': files.key,
    'proxy_read_timeout 60s': `proxy_read_timeout ${answerSeconds}s`,
    '/var/log/nginx/coffer.log': join(folder, 'log'),
    'listen 443': `listen 127.0.0.1:${port} sndbuf=${sendBytes}`,
  }
  const vaults = { '127.0.0.1:3333': vaultPorts[0], '127.0.0.1:3334': vaultPorts[1] }
  const text = readExample('nginx/coffer.conf', { ...own, ...vaults, ...changes })
  writeFileSync(join(folder, 'coffer.conf'), text)
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const paths = kinds.map(kind => `${kind}_temp_path ${temporary}/;`)
  const config = join(folder, 'nginx.conf')
  writeFileSync(
    config,
    `daemon off; user root; pid ${folder}/pid; events {}
http { ${paths.join(' ')} include coffer.conf; }`,
  )
  return ['nginx', '-e', 'stderr', '-p', folder, '-c', config]
}

async function answers(port: number, tls: Bun.TLSOptions): Promise<boolean> {
  const url = `https://127.0.0.1:${port}/up`
  return (await fetch(url, { tls }).catch(() => undefined))?.status === 200
}

/**
 * @param vaultPorts of the two vaults that the examples name
 * @param changes    replacements of other parts of the example
 */
export async function startProxy(
  name: ProxyName,
  vaultPorts: readonly [number, number],
  files: CertificateFiles,
  changes: Changes = {},
): Promise<Proxy> {
  const folder = temporaryFolder()
  const temporary = join(folder, 'temporary')
  mkdirSync(temporary)
  const port = findPort()
  const [first, second] = vaultPorts.map(it => `127.0.0.1:${it}`) as [string, string]
  const places: Places = { folder, temporary, port, vaultPorts: [first, second], files }
  const write = name === 'haproxy' ? writeHaproxy : writeNginx
  const log = join(folder, 'log')
  const own = openSync(log, 'a')
  const child = Bun.spawn([...write(places, changes)], {
    stdio: ['ignore', own, own],
    env: { PATH: path },
  })
  const tls = { ca: readFileSync(files.cert, 'utf8') }
  await until(() => {
    if (child.exitCode !== null) throw new Error(`${name}: ${readFileSync(log, 'utf8')}`)
    return answers(Number(port), tls)
  })
  return {
    pid: child.pid,
    port: Number(port),
    folder,
    temporary,
    log: () => readFileSync(log, 'utf8'),
    async stop() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}
