/**
 * Sends a create to the vault that serves the frame, and retries if that is safe: under one
 * idempotency key it is done once, however often it is sent.
 *
 * decision: the typed client would be five times the download for each checkout, and has no
 * deadline over all attempts.
 * @module
 */
import { retriesMax, retryWaitMsFirst, retryWaitMsMax } from '../limits.ts'

export interface Sending {
  readonly url: string
  readonly key: string
  /** JSON. */
  readonly body: string
  readonly idempotencyKey: string
  /** Time to give up, by `elapsedMs`. */
  readonly untilMs: number
}

export interface VaultAnswer {
  readonly status: number
  readonly traceId: string | undefined
  /** Parsed; `undefined` if it is not JSON. */
  readonly body: unknown
  /** Seconds; 0 without the header. */
  readonly retryAfter: number
}

/** Clock, randomness and network. */
export interface Means {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly elapsedMs: () => number
  readonly random: () => number
  readonly sleep: (ms: number) => Promise<void>
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @returns `undefined` without a whole answer */
async function attempt(means: Means, sending: Sending): Promise<VaultAnswer | undefined> {
  const { url, key, body, idempotencyKey, untilMs } = sending
  try {
    const response = await means.fetch(url, {
      method: 'POST',
      headers: {
        'svc-api-key': key,
        'svc-idempotency-key': idempotencyKey,
        'content-type': 'application/json',
        accept: 'application/json',
      },
      body,
      // No cookie is sent, and a card never follows a redirect.
      credentials: 'omit',
      redirect: 'error',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(Math.max(0, untilMs - means.elapsedMs())),
    })
    const { status, headers } = response
    return {
      status,
      traceId: headers.get('svc-trace-id') ?? undefined,
      body: parse(await response.text()),
      retryAfter: Number(headers.get('retry-after') ?? 0),
    }
  } catch {
    return undefined
  }
}

const mayPass = ({ status, retryAfter }: VaultAnswer): boolean =>
  status === 408 || status === 429 || status >= 500 || (status === 409 && retryAfter > 0)

/** @returns the last answer; `undefined` if there was none */
export async function send(means: Means, sending: Sending): Promise<VaultAnswer | undefined> {
  for (let attempts = 0; ; attempts += 1) {
    const answer = await attempt(means, sending)
    if (attempts === retriesMax || (answer !== undefined && !mayPass(answer))) return answer
    const jitterMs = means.random() * Math.min(retryWaitMsMax, retryWaitMsFirst * 2 ** attempts)
    const waitMs = (answer?.retryAfter ?? 0) * 1_000 + jitterMs
    // Written so that a wait of NaN gives up too.
    if (!(means.elapsedMs() + waitMs < sending.untilMs)) return answer
    await means.sleep(waitMs)
  }
}
