/**
 * Proofs of the audit log over HTTP: the newest checkpoint, and the proof that it covers an entry.
 * @module
 */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { findLogged, newestCheckpoint, proveLogged } from '../audit/prove.ts'
import { readPublicLog } from '../audit/public-log.ts'
import type { Deps } from '../deps.ts'
import { operation, type OperationCall, type Reply } from '../http/operation.ts'
import type { Pipeline } from '../http/pipeline.ts'
import { routeOf } from '../http/routes.ts'
import { hexOf } from '../lib/bytes.ts'
import { ApiError } from '../lib/errors.ts'
import { paceOf } from '../records/pace.ts'

const note = Type.String({ description: 'A signed note of C2SP tlog-checkpoint.' })

const checkpointSchema = Type.Object(
  {
    origin: Type.String({ description: 'The name of the log, and of its keys.' }),
    size: Type.Integer({ description: 'Number of entries that it covers.' }),
    root: Type.String({ description: 'Root of the tree, in base64.' }),
    note,
    key: Type.String({ description: 'The verifier key that signed it.' }),
  },
  { title: 'LogCheckpoint' },
)

const proofSchema = Type.Object(
  {
    sequence: Type.Integer(),
    entry: Type.String({ description: 'The exact text that is hashed.' }),
    salt: Type.String({ description: '16 bytes, in hexadecimal.' }),
    size: Type.Integer({ description: 'Number of entries that the checkpoint covers.' }),
    proof: Type.Array(Type.String(), { description: 'Hashes in base64, from the leaf up.' }),
    note,
  },
  { title: 'LogProof' },
)

const origin = 'coffer/335101d8d335027a/32cd2fa2'
const root = 'RiNxirMtBs83d6zi8WkuS8c/UVJ6SSYMozbalpSAT/M='
const exampleNote =
  `${origin}\n9\n${root}\n\n` +
  `— ${origin} /GEGYQEE1hPp2JvWmgWcM+IHhDWFfaOoUwn6HCThlWmC0AYS3WXJsfnO/` +
  '6zhB8Xr6WiTtFaLG+7/jEY8X77Y2hFa+Aw=\n'

const checkpointExamples = {
  checkpoint: {
    origin,
    size: 9,
    root,
    note: exampleNote,
    key: `${origin}+fc610661+Af6hi3egEJXEWVWh39Fgm9D85wAcokBlOIEdQZID35Y1`,
  },
}

const proofExamples = {
  proof: {
    sequence: 8,
    entry: '{"at":"2026-03-01T08:00:00.000Z","operation":"getToken","result":401}',
    salt: '74f1a317f7e659a9b3887b4f80b090c3',
    size: 9,
    proof: [root],
    note: exampleNote,
  },
}

async function tellCheckpoint({ store }: Deps): Promise<Reply> {
  const { origin: name, size, root: hash, note: signed } = await newestCheckpoint(store)
  const { announcements } = await readPublicLog(store)
  const key = announcements.findLast(({ vkey }) => vkey.startsWith(`${name}+`))?.vkey
  const told = { origin: name, size, root: hash.toBase64(), note: signed, key }
  return { status: 200, json: JSON.stringify(told) }
}

const absent = () => new ApiError('not_found', 'There is no such entry, or it was pruned.')

/** Only a canonical number names an entry. */
const sequenceIn = (text: string): number =>
  /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY

async function tellProof(deps: Deps, call: OperationCall<{ readonly id: string }>): Promise<Reply> {
  const sequence = sequenceIn(call.params.id)
  const pause = paceOf(deps, call.caller)
  await pause()
  const logged = Number.isFinite(sequence) ? await findLogged(deps, sequence) : undefined
  if (logged?.entry.tenantId !== call.caller.tenantId) throw absent()
  const { checkpoint, proof } = await proveLogged(deps.store, logged, pause)
  const told = {
    sequence,
    entry: logged.line,
    salt: hexOf(logged.salt),
    size: checkpoint.size,
    proof: proof.map(hash => hash.toBase64()),
    note: checkpoint.note,
  }
  return { status: 200, json: JSON.stringify(told) }
}

const checkpoint = (deps: Deps) =>
  operation({
    name: 'getLogCheckpoint',
    method: 'GET',
    path: '/logs/checkpoint',
    readsPages: true,
    summary: 'Get the newest signed checkpoint of the audit log',
    permission: 'log:read',
    success: { status: 200, schema: checkpointSchema, examples: checkpointExamples },
    failures: [401, 403, 404],
    run: () => tellCheckpoint(deps),
  })

const proof = (deps: Deps) =>
  operation({
    name: 'getLogProof',
    method: 'GET',
    path: '/logs/:id/proof',
    readsPages: true,
    summary: 'Get the proof that an entry is in the audit log',
    permission: 'log:read',
    success: { status: 200, schema: proofSchema, examples: proofExamples },
    failures: [401, 403, 404],
    run: call => tellProof(deps, call),
  })

export const logProofRoutes = (deps: Deps, pipeline: Pipeline) =>
  new Elysia()
    .route(...routeOf(pipeline, checkpoint(deps)))
    .route(...routeOf(pipeline, proof(deps)))
