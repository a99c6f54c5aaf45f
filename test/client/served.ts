/**
 * A vault on a port of its own, and the wire between it and a client.
 * @module
 */
import { afterAll } from 'bun:test'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import {
  createClient,
  type ClientOptions,
  type CreateApplicationRequest,
  type TokenPermission,
} from '../../src/client/index.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import type { Settings } from '../../src/settings/settings.ts'
import { openTestVault } from '../support/vault.ts'

const stops: (() => unknown)[] = []
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop()
})

export const afterwards = (stop: () => unknown): void => void stops.push(stop)

const permissions: readonly TokenPermission[] = [
  'token:create',
  'token:read',
  'token:search',
  'token:update',
  'token:delete',
  'token:use',
]
const revealing: CreateApplicationRequest = {
  name: 'Backend',
  type: 'private',
  permissions,
  rules: [{ priority: 1, container: '/', transform: 'reveal', permissions }],
}
const collecting: CreateApplicationRequest = {
  name: 'Page',
  type: 'public',
  permissions: ['token:create'],
}

export async function openServed(seed: number, settings: Partial<Settings> = {}) {
  const vault = await openTestVault(seed, settings)
  const app = buildApp(vault.deps)
  const server = Bun.serve({ ...app.listener, hostname: '127.0.0.1', port: 0 })
  afterwards(() => server.stop(true))
  const address = server.url.origin
  const base = address + (settings.basePath ?? '')
  const { applications } = createClient({ address: base, key: vault.managementKey })
  const keys = {
    management: vault.managementKey,
    private: (await applications.create(revealing)).key,
    public: (await applications.create(collecting)).key,
  }
  const clientOf = (kind: keyof typeof keys, options: Partial<ClientOptions> = {}) =>
    createClient({ address, key: keys[kind], ...options })
  return { vault, app, address, port: server.port ?? 0, keys, clientOf }
}

/** Fate of a connection: all of it is passed on, or its answer is lost on the way. */
export type Fate = 'passed' | 'answer lost'

/** Opens a wire to a port that treats each connection in turn as told, and passes the rest. */
export async function openWire(port: number, fates: Fate[]): Promise<string> {
  const open = new Set<Socket>()
  const server = createServer(client => {
    const fate = fates.shift() ?? 'passed'
    const upstream = connect(port, '127.0.0.1')
    open.add(client).add(upstream)
    client.pipe(upstream)
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
    if (fate === 'passed') return void upstream.pipe(client)
    upstream.once('data', () => {
      upstream.destroy()
      client.destroy()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  afterwards(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
