/**
 * Servers that the client meets in every runtime: a real vault, and absent or foul ones.
 * @module
 */
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { startVault, type KeyKind } from '../../../src/testing/index.ts'
import { openWire } from '../../client/served.ts'
import { atEnd } from '../../support/at-end.ts'
import { findPort } from '../../support/free-port.ts'

/** Longer than a story takes, and no longer than the client waits. */
export const busySeconds = 30

export interface Scene {
  readonly address: string
  readonly keys: Readonly<Record<KeyKind, string>>
  /** Address at which nobody listens. */
  readonly nobody: string
  /** Takes connections, and never answers. */
  readonly silent: string
  /** Answers requests for `kept`, by a connection that is kept, and else never. */
  readonly hushed: string
  /** Begins an answer, and never ends it. */
  readonly stalling: string
  /** Asks to wait before another attempt. */
  readonly busy: string
  /** Leads to another address. */
  readonly redirecting: string
  /** A way to the vault on which the first two answers are lost. */
  readonly lossy: string
}

export interface Stage {
  readonly scene: Scene
  /** Requests that came where a redirection led. */
  readonly caught: () => number
  /** Gives pages the files of a folder. @returns their origin, which is that of the foul answers */
  readonly publish: (folder: string) => string
}

async function openSilent(): Promise<string> {
  const server = createServer(socket => socket.on('error', () => {}))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const hush = (url: string): Response | Promise<Response> =>
  url.endsWith('/kept') ? Response.json({ id: 'kept' }) : new Promise<Response>(() => {})

/** Answers requests for `kept` on its socket, and else never. @returns its end */
export function openSilentSocket(unix: string): () => unknown {
  const server = Bun.serve({
    unix,
    fetch: ({ url }) => hush(url),
  })
  return () => server.stop(true)
}

interface Foul extends Pick<Stage, 'caught' | 'publish'> {
  readonly address: string
}

/** Opens one server for all foul answers, picked by the first step of the path. */
function openFoul(): Foul {
  let caught = 0
  let published: string | undefined
  const answers: Readonly<Record<string, () => Response>> = {
    stalling: () => {
      const start = (stream: ReadableStreamDefaultController<Uint8Array>) =>
        stream.enqueue(new TextEncoder().encode('{"id":'))
      const headers = { 'content-type': 'application/json' }
      return new Response(new ReadableStream<Uint8Array>({ start }), { headers })
    },
    busy: () =>
      Response.json(
        { detail: 'busy' },
        { status: 503, headers: { 'retry-after': String(busySeconds) } },
      ),
    redirecting: () => new Response(null, { status: 307, headers: { location: '/caught' } }),
    caught: () => {
      caught += 1
      return Response.json({ id: 'caught' })
    },
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch({ url }) {
      const { pathname } = new URL(url)
      if (pathname.startsWith('/hushed/')) return hush(pathname)
      const answer = answers[pathname.split('/')[1] ?? '']
      if (answer !== undefined) return answer()
      const file = published === undefined ? undefined : Bun.file(join(published, pathname))
      return (await file?.exists()) ? new Response(file) : new Response('', { status: 404 })
    },
  })
  atEnd(() => server.stop(true))
  const publish = (folder: string): string => {
    published = folder
    return server.url.origin
  }
  return { address: server.url.origin, caught: () => caught, publish }
}

/** Sets the stage of one runtime, which ends with the process of the tests. */
export async function setStage(): Promise<Stage> {
  const { address, caught, publish } = openFoul()
  const vault = await startVault({ settings: { corsOrigins: [address] } })
  atEnd(() => vault.stop())
  const { port } = new URL(vault.address)
  const scene: Scene = {
    address: vault.address,
    keys: vault.keys,
    nobody: `http://127.0.0.1:${findPort()}`,
    silent: await openSilent(),
    hushed: `${address}/hushed`,
    stalling: `${address}/stalling`,
    busy: `${address}/busy`,
    redirecting: `${address}/redirecting`,
    lossy: await openWire(Number(port), ['answer lost', 'answer lost']),
  }
  return { scene, caught, publish }
}
