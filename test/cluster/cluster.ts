/**
 * Three nodes of Patroni and PostgreSQL on loopback, with etcd, and HAProxy before the primary.
 * @module
 */
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../crash/clients/server.ts'
import { ownDataFolder, startProcess, type Owned } from './processes.ts'

const postgresRoot = '/usr/lib/postgresql'
const startMs = 90_000
const userName = 'postgres'

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
  /** Whether each write is on two nodes before it is answered. */
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

/** Of a cluster that answers before a write is anywhere: the campaign has to find what it loses. */
const careless = { synchronous_commit: 'off', wal_writer_delay: '10s' }

/** JSON is YAML as well. */
const patroniSettings = (
  node: Omit<Node, 'patroni'>,
  etcd: number,
  isCareful: boolean,
): unknown => ({
  scope: 'coffer',
  name: node.name,
  restapi: { listen: `127.0.0.1:${node.rest}`, connect_address: `127.0.0.1:${node.rest}` },
  etcd3: { hosts: [`127.0.0.1:${etcd}`] },
  bootstrap: {
    dcs: {
      ttl: 20,
      loop_wait: 1,
      retry_timeout: 3,
      synchronous_mode: isCareful,
      synchronous_mode_strict: isCareful,
      postgresql: {
        use_pg_rewind: true,
        parameters: { max_connections: 100, ...(isCareful ? {} : careless) },
      },
    },
    initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
  },
  postgresql: {
    listen: `127.0.0.1:${node.port}`,
    connect_address: `127.0.0.1:${node.port}`,
    data_dir: join(node.folder, 'data'),
    bin_dir: binFolder(),
    pgpass: join(node.folder, 'pgpass'),
    authentication: {
      superuser: { username: userName, password: userName },
      replication: { username: 'replicator', password: userName },
    },
    pg_hba: [
      'local all all trust',
      'host all all 127.0.0.1/32 trust',
      'host replication all 127.0.0.1/32 trust',
    ],
    parameters: { unix_socket_directories: node.folder, shared_buffers: '32MB' },
  },
})

const haproxySettings = (port: number, nodes: readonly Omit<Node, 'patroni'>[]): string =>
  `global
  maxconn 500
defaults
  mode tcp
  timeout connect 1s
  timeout client 10m
  timeout server 10m
  timeout check 1s
listen primary
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${nodes
  .map(({ name, port: own, rest }) => `  server ${name} 127.0.0.1:${own} check port ${rest}`)
  .join('\n')}
`

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

/** One primary, and two that follow it, one of them in step where they are to be. */
export async function untilWhole(cluster: Cluster): Promise<void> {
  const deadline = performance.now() + startMs
  while (performance.now() < deadline) {
    const primary = await findPrimary(cluster)
    const others = cluster.nodes.filter(node => node !== primary)
    const follow = await Promise.all(others.map(node => isPath(node, '/replica')))
    const inStep = await Promise.all(others.map(node => isPath(node, '/synchronous')))
    const isInStep = !cluster.isCareful || inStep.includes(true)
    if (primary !== undefined && follow.every(Boolean) && isInStep) return
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
    headers: { 'Content-Type': 'application/json' },
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
      [...setpriv, 'patroni', join(node.folder, 'patroni.yml')],
      join(folder, `${node.name}.log`),
    )
  const nodes: Node[] = []
  for (const name of ['a', 'b', 'c']) {
    const node = await layOut(folder, account, name)
    const file = join(node.folder, 'patroni.yml')
    writeFileSync(file, JSON.stringify(patroniSettings(node, etcd, isCareful)))
    chownSync(file, account.uid, account.gid)
    nodes.push({ ...node, patroni: run(node) })
  }
  writeFileSync(join(folder, 'haproxy.cfg'), haproxySettings(haproxy, nodes))
  startProcess(['haproxy', '-db', '-f', join(folder, 'haproxy.cfg')], join(folder, 'haproxy.log'))
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
