/**
 * Three nodes of Patroni and PostgreSQL on loopback, with etcd, and HAProxy before the primary.
 * @module
 */
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { freePort } from '../crash/clients/server.ts'
import { ownDataFolder, startProcess, type Owned } from './processes.ts'

const postgresRoot = '/usr/lib/postgresql'
/** `scripts/install-cluster-tools` puts this version here. */
const patroni = '/var/cache/coffer/patroni-4.1.5/bin/patroni'
/** Ends a wait that would never end; no measure of the machine. */
const startMs = 300_000
const userName = 'postgres'
export const databasePassword = 'of the campaign'

export interface Node {
  readonly name: string
  readonly rest: number
  readonly port: number
  readonly folder: string
  patroni: Owned
}

export interface Cluster {
  readonly nodes: readonly Node[]
  readonly haproxy: number
  /** True if each write is on two nodes before it is answered. */
  readonly isCareful: boolean
  start(node: Node): void
}

interface Account {
  readonly uid: number
  readonly gid: number
}

const setpriv = ['setpriv', `--reuid=${userName}`, `--regid=${userName}`, '--clear-groups']

function readAccount(): Account {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find(each => each.startsWith(`${userName}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  if (uid === undefined || gid === undefined) throw new Error('there is no user postgres')
  return { uid: Number(uid), gid: Number(gid) }
}

function binFolder(): string {
  const version = readdirSync(postgresRoot)
    .toSorted((a, b) => Number(b) - Number(a))
    .at(0)
  return join(postgresRoot, version ?? '', 'bin')
}

/** Settings that answer before a write is anywhere: the campaign has to find the losses. */
const careless = { synchronous_commit: 'off', wal_writer_delay: '10s' }

const exampleFolder = join(import.meta.dir, '../../examples/many-machines')
const example = (name: string): string => readFileSync(join(exampleFolder, name), 'utf8')

const replaceAll = (text: string, pairs: readonly (readonly [string, string])[]): string =>
  pairs.reduce((done, [from, to]) => {
    if (!done.includes(from)) throw new Error(`the example has no ${from}`)
    return done.replaceAll(from, to)
  }, text)

interface Example {
  readonly bootstrap: {
    readonly dcs: {
      synchronous_mode: boolean
      synchronous_mode_strict: boolean
      readonly postgresql: { readonly parameters: Record<string, unknown> }
    }
  }
  readonly postgresql: { readonly parameters: Record<string, unknown> }
}

/** The example as it stands, but for addresses, folders, memory, and TLS (it has its own tests). */
function patroniSettings(node: Omit<Node, 'patroni'>, etcd: number, isCareful: boolean): string {
  const text = replaceAll(example('patroni.yml'), [
    ['name: node-1', `name: ${node.name}`],
    ['[10.0.0.1:2379, 10.0.0.2:2379, 10.0.0.3:2379]', `['127.0.0.1:${etcd}']`],
    ['10.0.0.1:8008', `127.0.0.1:${node.rest}`],
    ['10.0.0.1:5432', `127.0.0.1:${node.port}`],
    ['10.0.0.0/24', '127.0.0.1/32'],
    ['hostssl', 'host'],
    ['change-me-1', databasePassword],
    ['change-me-3', databasePassword],
    ['/var/lib/postgresql/15/coffer', join(node.folder, 'data')],
    ['/usr/lib/postgresql/15/bin', binFolder()],
    ['/run/postgresql/pgpass', join(node.folder, 'pgpass')],
    ['/run/postgresql', node.folder],
    ['4GB', '32MB'],
  ])
  const settings = Bun.YAML.parse(text) as Example
  const { dcs } = settings.bootstrap
  for (const name of ['ssl', 'ssl_cert_file', 'ssl_key_file']) {
    delete settings.postgresql.parameters[name]
  }
  if (!isCareful) {
    dcs.synchronous_mode = false
    dcs.synchronous_mode_strict = false
    Object.assign(dcs.postgresql.parameters, careless)
  }
  // JSON is YAML as well.
  return JSON.stringify(settings)
}

const haproxySettings = (port: number, nodes: readonly Omit<Node, 'patroni'>[]): string =>
  replaceAll(example('haproxy.cfg'), [
    ['127.0.0.1:5000', `127.0.0.1:${port}`],
    ...nodes.map(
      ({ port: own, rest }, at) =>
        [`10.0.0.${at + 1}:5432 check port 8008`, `127.0.0.1:${own} check port ${rest}`] as const,
    ),
  ])

async function layOut(folder: string, { uid, gid }: Account, name: string) {
  const own = join(folder, name)
  mkdirSync(own)
  chownSync(own, uid, gid)
  chmodSync(own, 0o700)
  ownDataFolder(join(own, 'data'))
  return { name, rest: await freePort(), port: await freePort(), folder: own }
}

function startEtcd(folder: string, client: number, peer: number): void {
  const at = (port: number): string => `http://127.0.0.1:${port}`
  const options = {
    name: 'one',
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': at(client),
    'advertise-client-urls': at(client),
    'listen-peer-urls': at(peer),
    'initial-advertise-peer-urls': at(peer),
    'initial-cluster': `one=${at(peer)}`,
  }
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  startProcess(['etcd', ...flags], join(folder, 'etcd.log'))
}

const isPath = (node: Node, path: string): Promise<boolean> =>
  fetch(`http://127.0.0.1:${node.rest}${path}`, { signal: AbortSignal.timeout(1_000) }).then(
    answer => answer.status === 200,
    () => false,
  )

export async function findPrimary({ nodes }: Cluster): Promise<Node | undefined> {
  const are = await Promise.all(nodes.map(node => isPath(node, '/primary')))
  return nodes.find((_, at) => are[at])
}

/**
 * Counts the nodes that stream its log: a node ahead of it is a replica too, until it is rewound.
 */
async function countFollowers(primary: Node): Promise<number> {
  const sql = new SQL(`postgres://postgres@127.0.0.1:${primary.port}/postgres`, {
    password: databasePassword,
    max: 1,
    connectionTimeout: 2,
  })
  try {
    const text = `SELECT pid FROM pg_stat_replication WHERE state = 'streaming'`
    return (await sql.unsafe(text)).length
  } catch {
    return 0
  } finally {
    void sql.close({ timeout: 0 }).catch(() => {})
  }
}

/** Waits for one primary and two followers, one of them synchronous if it is to be. */
export async function untilWhole(cluster: Cluster): Promise<void> {
  const deadline = performance.now() + startMs
  while (performance.now() < deadline) {
    const primary = await findPrimary(cluster)
    const others = cluster.nodes.filter(node => node !== primary)
    const follow = await Promise.all(others.map(node => isPath(node, '/replica')))
    const inStep = await Promise.all(others.map(node => isPath(node, '/synchronous')))
    const isInStep = !cluster.isCareful || inStep.includes(true)
    const areTold = follow.every(Boolean) && isInStep
    if (primary !== undefined && areTold && (await countFollowers(primary)) === others.length)
      return
    await Bun.sleep(250)
  }
  throw new Error(`the cluster is not whole after ${startMs / 1_000} s`)
}

export async function switchOver(cluster: Cluster): Promise<void> {
  const primary = await findPrimary(cluster)
  if (primary === undefined) throw new Error('there is no primary to switch from')
  const answer = await fetch(`http://127.0.0.1:${primary.rest}/switchover`, {
    method: 'POST',
    body: JSON.stringify({ leader: primary.name }),
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Basic ${btoa(`patroni:${databasePassword}`)}`,
    },
  })
  if (answer.status >= 300) throw new Error(`switchover: ${answer.status}`)
}

export async function startCluster(folder: string, isCareful: boolean): Promise<Cluster> {
  chmodSync(folder, 0o711)
  const account = readAccount()
  const [etcd, haproxy] = [await freePort(), await freePort()]
  startEtcd(folder, etcd, await freePort())
  const run = (node: Omit<Node, 'patroni'>): Owned =>
    startProcess(
      [...setpriv, patroni, join(node.folder, 'patroni.yml')],
      join(folder, `${node.name}.log`),
    )
  const nodes: Node[] = []
  for (const name of ['a', 'b', 'c']) {
    const node = await layOut(folder, account, name)
    const file = join(node.folder, 'patroni.yml')
    writeFileSync(file, patroniSettings(node, etcd, isCareful))
    chownSync(file, account.uid, account.gid)
    nodes.push({ ...node, patroni: run(node) })
  }
  writeFileSync(join(folder, 'haproxy.cfg'), haproxySettings(haproxy, nodes))
  // Debian puts it here, which is not on every user's path.
  const proxy = ['/usr/sbin/haproxy', '-db', '-f', join(folder, 'haproxy.cfg')]
  startProcess(proxy, join(folder, 'haproxy.log'))
  const cluster: Cluster = {
    nodes,
    haproxy,
    isCareful,
    start: node => {
      node.patroni = run(node)
    },
  }
  await untilWhole(cluster)
  return cluster
}
