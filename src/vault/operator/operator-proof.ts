/**
 * Access to the operations of the control socket.
 *
 * decision: every program of the serving user may open that socket, even one that cannot read the
 * master key. So an operation that reveals sealed values, or makes or changes credentials or keys,
 * takes a proof of the master key, wherever that key lies; or, if a route does the same, the API
 * key of a management application that the route would accept.
 * @module
 */
import { applicationAuthenticator } from '../../applications/find-key-caller.ts'
import { bytesOfHex, hexOf, utf8 } from '../../lib/bytes.ts'
import type { Deps } from '../../deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { isProof, proofNonceBytes, sealAnswer, type ProvenRequest } from '../keyring/proof.ts'
import { challengesMax } from '../../limits/operation-limits.ts'
import { holdsAnywhere } from '../../rules/access.ts'
import type { Caller } from '../../rules/caller.ts'
import type { Permission } from '../../rules/permissions.ts'
import {
  theOperator,
  type AdminOperation,
  type Administered,
  type Facts,
  type Need,
  type Tell,
} from './operator-operation.ts'

/** Credentials and context of a request, beside its input. */
export interface ControlRequest {
  /** Name of the operation. */
  readonly name: string
  /** The input, as it came. */
  readonly body: Uint8Array
  readonly header: (name: ControlHeader) => string | null
  /** Facts from the system about the calling process, for the log. */
  readonly peers: Readonly<Partial<Record<string, number | string>>>
}

/** Headers of the control socket; those of a proof are lower-case hex. */
export const controlHeaders = ['challenge', 'nonce', 'proof', 'svc-api-key'] as const
export type ControlHeader = (typeof controlHeaders)[number]

/** Challenges that were issued, each good for one request. */
export interface Challenges {
  readonly issue: () => Facts
  /** @returns true if it was issued and not yet taken */
  readonly take: (challenge: string) => boolean
}

export function makeChallenges({ randomBytes }: Pick<Deps, 'randomBytes'>): Challenges {
  const open = new Set<string>()
  return {
    issue() {
      const challenge = hexOf(randomBytes(proofNonceBytes))
      const [oldest] = open
      if (open.size >= challengesMax && oldest !== undefined) open.delete(oldest)
      open.add(challenge)
      return { challenge }
    },
    take: challenge => open.delete(challenge),
  }
}

const forbidden = (message: string) => new ApiError('forbidden', message)

/** @throws ApiError `forbidden` unless the caller is a manager that holds the permission */
export function assertHolds({ type, grants }: Caller, permission: Permission): void {
  if (type === 'management' && holdsAnywhere(grants, permission)) return
  throw forbidden(`expected the key of a management application with ${permission}`)
}

async function managerOf(deps: Deps, key: string, permission: Permission): Promise<Caller> {
  const found = await applicationAuthenticator(deps)(key, deps.now())
  if (found === undefined)
    throw new ApiError('unauthenticated', 'expected a live API key in COFFER_KEY or --key-file')
  assertHolds(found.value, permission)
  return found.value
}

function expectedOf(needs: Need, { header }: ControlRequest): string {
  if (header('proof') !== null)
    return 'the master key is not the one of this vault: name that of its init, or last keys rekey'
  const expected = 'expected a proof of the master key of this vault'
  return needs === 'master-key' ? expected : `${expected}, or the API key of a manager`
}

/** @returns the secret that the proof was made with, which the caller wipes */
async function proven(
  { keyring }: Administered,
  challenges: Challenges,
  { name, body, header }: ControlRequest,
): Promise<{ asked: ProvenRequest; secret: Uint8Array } | undefined> {
  const [challenge, nonce, proof] = [header('challenge'), header('nonce'), header('proof')]
  if (challenge === null || nonce === null || proof === null) return undefined
  if (!challenges.take(challenge)) return undefined
  await keyring.refresh()
  const asked = { challenge: bytesOfHex(challenge), nonce: bytesOfHex(nonce), name, body }
  const secret = keyring.proofSecret()
  if (isProof(secret, asked, bytesOfHex(proof))) return { asked, secret }
  secret.fill(0)
  return undefined
}

/** The vault made this id itself, or found it as it was asked for, so it is safe to log. */
function objectOf({ application_id: application, session_id: session }: Facts) {
  const id = session ?? application
  return typeof id === 'string' ? { object_id: id } : {}
}

/** Runs an admitted operation, and logs its outcome and its authority. */
async function runLogged(
  { log }: Pick<Deps, 'log'>,
  { name, peers }: ControlRequest,
  caller: Caller | undefined,
  run: () => Promise<Facts>,
): Promise<Facts> {
  const { applicationId: application_id, keyId } = caller ?? {}
  const by = application_id === undefined ? {} : { application_id }
  const about = { operation: name, ...by, ...(keyId && { key_id: keyId }), ...peers }
  try {
    const told = await run()
    log('administered', { ...about, ...objectOf(told) })
    return told
  } catch (error) {
    log('control_failed', about)
    throw error
  }
}

/**
 * Returns an operation as the control socket offers it. The answer to a caller who proved the
 * master key is sealed for that caller: `{"sealed": "<hex>"}`.
 * @throws ApiError `forbidden` without the needed credential; `unauthenticated` for an invalid key
 */
export const admitted =
  (vault: Administered, challenges: Challenges, { needs, run }: AdminOperation) =>
  async (input: Facts, tell: Tell, sent: ControlRequest): Promise<Facts> => {
    const { deps } = vault
    if (needs === 'nothing') return run(input, tell, theOperator)
    const refuse = (error: unknown): never => {
      deps.log('control_refused', { operation: sent.name, ...sent.peers })
      throw error
    }
    const key = sent.header('svc-api-key')
    if (key !== null && needs !== 'master-key') {
      const who = () => managerOf(deps, key, needs)
      const caller = await who().catch(refuse)
      return runLogged(deps, sent, caller, () => run(input, tell, { who }))
    }
    const shown = await proven(vault, challenges, sent)
    if (shown === undefined) return refuse(forbidden(expectedOf(needs, sent)))
    const { asked, secret } = shown
    try {
      const done = await runLogged(deps, sent, undefined, () => run(input, tell, theOperator))
      const told = utf8(JSON.stringify(done))
      return { sealed: hexOf(sealAnswer(secret, asked, told)) }
    } finally {
      secret.fill(0)
    }
  }
