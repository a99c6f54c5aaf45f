/**
 * The witness over HTTP: `POST /add-checkpoint`, and `GET /<hash of the origin>/checkpoint`.
 * Source: C2SP tlog-witness, "HTTP Interface".
 * @module
 */
import type { NoteKey } from '../../audit/note-keys.ts'
import { decideWitness } from '../../audit/witness.ts'
import { readWitnessRequest, type WitnessRequest } from '../../audit/witness-request.ts'
import { makeEndAnswer } from '../../http/flood-guard.ts'
import { witnessIdleSeconds, witnessRequestBytesMax } from '../../limits/operation-limits.ts'
import type { TcpAddress } from '../../settings/config.ts'
import { explainListening } from '../listen/listen-failure.ts'
import { inUrl } from '../listen/listen.ts'
import type { Tls } from '../listen/tls-files.ts'
import type { WitnessFolder } from './witness-folder.ts'

export interface WitnessServer {
  readonly address: string
  readonly stop: () => Promise<void>
}

interface WitnessParts {
  readonly folder: WitnessFolder
  /** Keys of the logs that it cosigns. */
  readonly logs: readonly NoteKey[]
  readonly wallMs: () => number
  /** Called with each checkpoint that was cosigned, and with each that a known log was refused. */
  readonly tell: (status: number, origin: string) => void
}

const plain = 'text/plain; charset=utf-8'

const say = (status: number, body: string, type = plain): Response =>
  new Response(body, { status, headers: { 'content-type': type, 'cache-control': 'no-store' } })

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function requestIn(bytes: ArrayBuffer): WitnessRequest | undefined {
  try {
    return readWitnessRequest(strict.decode(bytes))
  } catch {
    return undefined
  }
}

/** Decides, keeps and answers without a pause: requests for one log are one after the other. */
function cosign({ folder, logs, wallMs, tell }: WitnessParts, bytes: ArrayBuffer): Response {
  const request = requestIn(bytes)
  const witness = { signer: folder.signer, logs, wallMs }
  const { status, body, type, origin, cosigned } = decideWitness(witness, request, folder.newest)
  if (origin !== undefined && cosigned !== undefined) folder.keep(origin, cosigned)
  if (origin !== undefined) tell(status, origin)
  return say(status, body, type)
}

async function answer(parts: WitnessParts, request: Request): Promise<Response> {
  const { method, url } = request
  const path = /^https?:\/\/[^/?]*([^?]*)/.exec(url)?.[1] ?? ''
  if (path === '/add-checkpoint') {
    if (method !== 'POST') return say(405, 'expected POST\n')
    return cosign(parts, await request.arrayBuffer())
  }
  const hash = /^\/([0-9a-f]{64})\/checkpoint$/.exec(path)?.[1]
  if (hash === undefined) return say(404, 'there is /add-checkpoint and /<hash>/checkpoint\n')
  if (method !== 'GET' && method !== 'HEAD') return say(405, 'expected GET\n')
  const note = parts.folder.byHash(hash)
  return note === undefined ? say(404, 'nothing of that log was cosigned\n') : say(200, note)
}

/** @param tls absent for plain HTTP, behind a proxy @throws CommandFailure if it cannot listen */
export async function startWitness(
  parts: WitnessParts,
  { host: hostname, port }: TcpAddress,
  tls?: Tls,
): Promise<WitnessServer> {
  const end = makeEndAnswer()
  try {
    const server = Bun.serve({
      hostname,
      port,
      reusePort: false,
      development: false,
      idleTimeout: witnessIdleSeconds,
      maxRequestBodySize: witnessRequestBytesMax,
      ...(tls === undefined ? {} : { tls: { cert: tls.cert, key: tls.key } }),
      fetch: async (request, origins) => end(request, await answer(parts, request), origins),
      // The server's own answer would print the error.
      error: () => say(500, 'the witness could not keep that\n'),
    })
    const scheme = tls === undefined ? 'http' : 'https'
    const address = `${scheme}://${inUrl(server.hostname ?? hostname)}:${server.port}`
    return { address, stop: () => server.stop(true) }
  } catch (error) {
    throw await explainListening(error, { host: hostname, port })
  }
}
