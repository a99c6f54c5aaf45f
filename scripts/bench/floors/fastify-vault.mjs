/**
 * Floor (c): a vault as a small team would write it in a week. Fastify, PostgreSQL, AES-256-GCM.
 *
 * Creates and reads card tokens; finds API keys by their hash. Runs on Node.js.
 * @module
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  randomUUID,
} from 'node:crypto'
import Fastify from 'fastify'
import pg from 'pg'

const dataKey = randomBytes(32)
const fingerprintKey = randomBytes(32)
const tenant = randomUUID()
const applicationId = randomUUID()
const pool = new pg.Pool({ max: 16 })

const schema = `
create table if not exists applications (
  id uuid primary key, tenant uuid not null, key_hash bytea not null unique,
  permissions text[] not null);
create table if not exists tokens (
  id uuid not null, tenant uuid not null, type text not null, container text not null,
  fingerprint bytea not null, metadata jsonb not null default '{}', mask jsonb not null,
  data bytea not null, created_by uuid not null, created_at timestamptz not null default now(),
  expires_at timestamptz, primary key (tenant, id));
create index if not exists tokens_created on tokens (tenant, created_at desc);
create index if not exists tokens_type on tokens (tenant, type, created_at desc);
create index if not exists tokens_container on tokens (tenant, container text_pattern_ops);
create index if not exists tokens_fingerprint on tokens (tenant, fingerprint);
create index if not exists tokens_expiry on tokens (expires_at) where expires_at is not null;
create index if not exists tokens_metadata on tokens using gin (metadata jsonb_path_ops);`

const hashOf = key => createHash('sha256').update(key).digest()

function seal(id, text) {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', dataKey, nonce).setAAD(Buffer.from(tenant + id))
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

function open(id, sealed) {
  const decipher = createDecipheriv('aes-256-gcm', dataKey, sealed.subarray(0, 12))
  decipher.setAAD(Buffer.from(tenant + id)).setAuthTag(sealed.subarray(-16))
  return decipher.update(sealed.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8')
}

const cacheMs = 60_000
const cache = new Map()

async function findCaller(key) {
  const hash = hashOf(key)
  const name = hash.toString('hex')
  const known = cache.get(name)
  if (known !== undefined && known.untilMs > Date.now()) return known.caller
  const { rows } = await pool.query({
    name: 'find-application',
    text: 'select id, tenant, permissions from applications where key_hash = $1',
    values: [hash],
  })
  if (rows[0] !== undefined) cache.set(name, { caller: rows[0], untilMs: Date.now() + cacheMs })
  return rows[0]
}

function isLuhnValid(number) {
  let sum = 0
  for (let at = 0; at < number.length; at += 1) {
    const digit = Number(number[number.length - 1 - at])
    sum += at % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2
  }
  return sum % 10 === 0
}

const maskOf = data => ({
  number: 'X'.repeat(data.number.length - 4) + data.number.slice(-4),
  expiration_month: data.expiration_month,
  expiration_year: data.expiration_year,
})

const shown = (row, data) => ({
  id: row.id,
  tenant_id: row.tenant,
  type: row.type,
  data,
  fingerprint: row.fingerprint.toString('base64url'),
  containers: [row.container],
  metadata: row.metadata,
  created_by: row.created_by,
  created_at: row.created_at,
})

const fields = 'id, tenant, type, container, fingerprint, metadata, created_by, created_at'

const app = Fastify({ bodyLimit: 1024 * 1024 })

const permit = permission => async (request, reply) => {
  const key = request.headers['svc-api-key']
  const caller = typeof key === 'string' ? await findCaller(key) : undefined
  if (caller === undefined) return reply.code(401).send({ title: 'Unauthorized', status: 401 })
  if (!caller.permissions.includes(permission)) {
    return reply.code(403).send({ title: 'Forbidden', status: 403 })
  }
  request.caller = caller
}

const cardSchema = {
  type: 'object',
  required: ['type', 'data'],
  properties: {
    type: { const: 'card' },
    containers: { type: 'array', items: { type: 'string' }, maxItems: 1 },
    metadata: { type: 'object', additionalProperties: { type: 'string', maxLength: 500 } },
    data: {
      type: 'object',
      required: ['number'],
      properties: {
        number: { type: 'string', pattern: '^[0-9]{13,19}$' },
        expiration_month: { type: 'integer', minimum: 1, maximum: 12 },
        expiration_year: { type: 'integer', minimum: 1000, maximum: 9999 },
        cvc: { type: 'string', pattern: '^[0-9]{3,4}$' },
      },
    },
  },
}

app.decorateRequest('caller', null)

app.post(
  '/tokens',
  { preHandler: permit('token:create'), schema: { body: cardSchema } },
  async (request, reply) => {
    const { data, containers = ['/pci/high/'], metadata = {} } = request.body
    if (!isLuhnValid(data.number)) return reply.code(400).send({ title: 'Invalid', status: 400 })
    const id = randomUUID()
    const fingerprint = createHmac('sha256', fingerprintKey).update(data.number).digest()
    const { rows } = await pool.query({
      name: 'insert-token',
      text: `insert into tokens
        (id, tenant, type, container, fingerprint, metadata, mask, data, created_by)
        values ($1, $2, 'card', $3, $4, $5, $6, $7, $8) returning ${fields}`,
      values: [
        id,
        request.caller.tenant,
        containers[0],
        fingerprint,
        metadata,
        maskOf(data),
        seal(id, JSON.stringify(data)),
        request.caller.id,
      ],
    })
    return reply.code(201).send(shown(rows[0], maskOf(data)))
  },
)

app.get('/tokens/:id', { preHandler: permit('token:read') }, async (request, reply) => {
  const { rows } = await pool.query({
    name: 'read-token',
    text: `select ${fields}, data from tokens where tenant = $1 and id = $2
      and (expires_at is null or expires_at > now())`,
    values: [request.caller.tenant, request.params.id],
  })
  if (rows[0] === undefined) return reply.code(404).send({ title: 'Not Found', status: 404 })
  return shown(rows[0], JSON.parse(open(rows[0].id, rows[0].data)))
})

await pool.query(schema)
await pool.query('insert into applications values ($1, $2, $3, $4)', [
  applicationId,
  tenant,
  hashOf(process.env.VAULT_API_KEY),
  ['token:create', 'token:read'],
])
console.info(`listens on ${await app.listen({ host: '127.0.0.1', port: 0 })}`)
