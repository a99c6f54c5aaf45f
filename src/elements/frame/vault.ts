/**
 * A create, sent to the vault that serves the frame, and sent again where that is safe: under one
 * idempotency key it is done once, however often it is sent.
 *
 * decision: the typed client would be five times as much for each checkout to load, and has no
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
  /** When to give up, by `elapsedMs`. */
  readonly untilMs: number
}

export interface VaultAnswer {
  readonly status: number
  readonly traceId: string | undefined
  /** Parsed; `undefined` where it is no JSON. */
  readonly body: unknown
  /** Seconds; 0 where nothing is said. */
  readonly retryAfter: number
}

/** What time and chance are for it, and how it asks. */
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

/** @returns `undefined` where no whole answer came */
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
      // No cookie goes along, and a card is never carried to where a redirection leads.
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

/** @returns the last answer; `undefined` where none came */
export async function send(means: Means, sending: Sending): Promise<VaultAnswer | undefined> {
  for (let attempts = 0; ; attempts += 1) {
    const answer = await attempt(means, sending)
    if (attempts === retriesMax || (answer !== undefined && !mayPass(answer))) return answer
    const jitterMs = means.random() * Math.min(retryWaitMsMax, retryWaitMsFirst * 2 ** attempts)
    const waitMs = (answer?.retryAfter ?? 0) * 1_000 + jitterMs
    // Also where a wait is no number.
    if (!(means.elapsedMs() + waitMs < sending.untilMs)) return answer
    await means.sleep(waitMs)
  }
}
