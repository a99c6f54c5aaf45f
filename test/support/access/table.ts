/**
 * The table of access: one row per operation and place, one column per live credential.
 *
 * A cell is a refused status, or the visible result: `m` masked data, `x` a token without data, `r`
 * the plaintext, `ok` a success that shows no token, `-` a success that leaves the token out.
 * Written from contract sections 2, 3, 11, 12 and 13; no dead credential may do anything.
 * @module
 */
import { liveCredentials, type LiveCredential } from './credentials.ts'
import { places, type Place } from './operations.ts'

const text = `
plain redact mask reveal public pub-rule manage reader s-new s-plain s-cont s-cond s-id o-priv o-man

POST /tokens
in    m   x   m   m    m   m    403 403   403 m   m   m   m      m   403
out   m   403 403 403  m   403  403 403   403 m   403 403 403    m   403

GET /tokens
in    m   x   m   r    403 403  403 403   403 m   r   m   r      -   403
out   m   -   -   -    403 403  403 403   403 m   -   -   -      -   403

GET /tokens/{id}
in    m   x   m   r    403 403  403 403   403 m   r   m   r      404 403
out   m   404 404 404  403 403  403 403   403 m   404 404 404    404 403

PATCH /tokens/{id}
in    m   x   m   m    m   m    403 403   403 m   m   m   m      404 403
out   m   404 404 404  m   404  403 403   403 m   404 404 404    404 403
move  m   403 403 403  m   403  403 403   403 m   403 403 m      404 403

DELETE /tokens/{id}
in    ok  ok  ok  ok   403 403  403 403   403 ok  ok  ok  ok     404 403
out   ok  404 404 404  403 403  403 403   403 ok  404 404 404    404 403

POST /tokens/search
in    m   x   m   r    403 403  403 403   403 m   r   m   r      -   403
out   m   -   -   -    403 403  403 403   403 m   -   -   -      -   403

GET /v2/tokens
in    m   x   m   r    403 403  403 403   403 m   r   m   r      -   403
out   m   -   -   -    403 403  403 403   403 m   -   -   -      -   403

POST /v2/tokens/search
in    m   x   m   r    403 403  403 403   403 m   r   m   r      -   403
out   m   -   -   -    403 403  403 403   403 m   -   -   -      -   403

POST /tokenize
in    m   x   m   m    m   m    403 403   403 m   m   m   m      m   403
out   m   403 403 403  m   403  403 403   403 m   403 403 403    m   403

POST /detokenize
in    r   400 m   r    403 403  403 403   403 r   r   m   r      400 403
out   r   400 400 400  403 403  403 403   403 r   400 400 400    400 403

POST /sessions
in    403 403 403 403  ok  ok   403 403   403 403 403 403 403    403 403

POST /sessions/authorize
in    ok  ok  ok  ok   403 403  403 403   403 403 403 403 403    404 403

GET /sessions
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 ok

DELETE /sessions/{id}
in    404 404 404 404  403 403  ok  403   403 403 403 403 403    404 404

POST /applications
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 ok

GET /applications
in    403 403 403 403  403 403  ok  ok    403 403 403 403 403    403 ok

GET /applications/key
in    ok  ok  ok  ok   ok  ok   ok  ok    403 403 403 403 403    ok  ok

GET /applications/{id}
in    403 403 403 403  403 403  ok  ok    403 403 403 403 403    403 404

PUT /applications/{id}
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

POST /applications/{id}/regenerate
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

DELETE /applications/{id}
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

GET /applications/{id}/keys
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

POST /applications/{id}/keys
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

GET /applications/{id}/keys/{keyId}
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

DELETE /applications/{id}/keys/{keyId}
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

GET /logs/checkpoint
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 ok

GET /logs/{id}/proof
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

GET /logs
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 ok

GET /logs/entity-types
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 ok

GET /permissions
in    ok  ok  ok  ok   ok  ok   ok  ok    403 403 403 403 403    ok  ok

GET /tenants/self
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 ok

PUT /tenants/self
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 ok

POST /webhooks
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 ok

GET /webhooks
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 ok

GET /webhooks/event-types
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 ok

GET /webhooks/public-key
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 ok

GET /webhooks/{id}
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

PUT /webhooks/{id}
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

DELETE /webhooks/{id}
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

POST /webhooks/{id}/rotate
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

POST /webhooks/{id}/test
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

GET /webhooks/{id}/deliveries
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

POST /webhooks/{id}/deliveries/{sequence}/retry
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

POST /webhooks/{id}/replay
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

GET /events
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 ok

GET /status
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 403

GET /status/history
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 403

GET /status/settings
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 403

POST /access/explain
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

POST /access/simulate
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 404

POST /expressions/preview
in    403 403 403 403  403 403  ok  403   403 403 403 403 403    403 ok

GET /containers
in    ok  ok  ok  ok   403 403  403 403   403 ok  ok  ok  ok     ok  403
`

export interface Row {
  readonly route: string
  readonly place: Place
  readonly cells: Readonly<Record<LiveCredential, string>>
}

function rowOf(route: string, line: string): Row {
  const [place, ...cells] = line.split(/ +/)
  const known = places.find(each => each === place)
  if (known === undefined || cells.length !== liveCredentials.length) {
    throw new Error(`${route}: not a row of ${liveCredentials.length} cells`)
  }
  const entries = liveCredentials.map((name, index) => [name, cells[index] ?? ''] as const)
  return { route, place: known, cells: Object.fromEntries(entries) as Row['cells'] }
}

function readTable(): Row[] {
  const [header = '', ...blocks] = text.trim().split('\n\n')
  if (header !== liveCredentials.join(' ')) throw new Error('the header names other columns')
  return blocks.flatMap(block => {
    const [route = '', ...lines] = block.split('\n')
    return lines.map(line => rowOf(route, line))
  })
}

export const rows: readonly Row[] = readTable()
