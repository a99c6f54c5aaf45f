/**
 * One small object, sent to an S3 service with a checksum: a bucket with object lock refuses an
 * upload that has none, and the runtime's own client sends none (Bun 1.4.4).
 *
 * Source: AWS, "Signature Version 4 for API requests"; "PutObject", Content-MD5.
 * @module
 */
import { createHash, createHmac } from 'node:crypto'
import { bucketPutMsMax } from '../../limits/operation-limits.ts'
import { CommandFailure } from '../process/failure.ts'

/** Credentials of the sender, and the place of the service. */
export interface S3Access {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  readonly region: string
  /** Absent for AWS itself. */
  readonly endpoint?: string
}

export interface SmallObject {
  readonly bucket: string
  readonly key: string
  readonly body: Uint8Array
  /** Unix time. */
  readonly nowMs: number
}

const algorithm = 'AWS4-HMAC-SHA256'

const sha256 = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex')

const hmac = (key: Uint8Array | string, text: string): Uint8Array =>
  createHmac('sha256', key).update(text).digest()

const percent = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase()}`

/** A path as it is signed: all but unreserved characters encoded, slashes left. */
const pathOf = (path: string): string =>
  path
    .split('/')
    .map(name => encodeURIComponent(name).replaceAll(/[!'()*]/g, percent))
    .join('/')

function addressOf({ endpoint, region }: S3Access, { bucket, key }: SmallObject): URL {
  const service = endpoint ?? `https://s3.${region}.amazonaws.com`
  return new URL(`${service.replace(/\/+$/, '')}/${pathOf(`${bucket}/${key}`)}`)
}

/** @returns the headers of a PUT, signed */
function signPut(access: S3Access, object: SmallObject): Readonly<Record<string, string>> {
  const { accessKeyId, secretAccessKey, sessionToken, region } = access
  const { body, nowMs } = object
  const url = addressOf(access, object)
  const instant = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const day = instant.slice(0, 8)
  const sent: Readonly<Record<string, string>> = {
    'content-md5': createHash('md5').update(body).digest('base64'),
    'x-amz-content-sha256': sha256(body),
    'x-amz-date': instant,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
  }
  const signed = Object.entries({ ...sent, host: url.host }).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  )
  const names = signed.map(([name]) => name).join(';')
  const lines = signed.map(([name, value]) => `${name}:${value}\n`).join('')
  const request = ['PUT', url.pathname, '', lines, names, sha256(body)].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = [algorithm, instant, scope, sha256(request)].join('\n')
  const key = [day, region, 's3', 'aws4_request'].reduce<Uint8Array>(
    hmac,
    Buffer.from(`AWS4${secretAccessKey}`),
  )
  const signature = Buffer.from(hmac(key, text)).toString('hex')
  const credential = `Credential=${accessKeyId}/${scope}`
  return {
    ...sent,
    authorization: `${algorithm} ${credential}, SignedHeaders=${names}, Signature=${signature}`,
  }
}

const refusals: Readonly<Record<number, string>> = {
  403: 'the bucket refuses the credentials: see AWS_ACCESS_KEY_ID and what it may do',
  404: 'there is no such bucket: make it first',
}

/** @throws CommandFailure, after `bucketPutMsMax` at the latest */
export async function putSmall(access: S3Access, object: SmallObject): Promise<void> {
  const headers = signPut(access, object)
  let status: number
  try {
    const answer = await fetch(addressOf(access, object), {
      method: 'PUT',
      headers,
      body: object.body,
      redirect: 'manual',
      // A cancelled answer would be inflated on, and 1 KB of it may hold gigabytes (Bun 1.4.4).
      decompress: false,
      tls: { rejectUnauthorized: true },
      signal: AbortSignal.timeout(bucketPutMsMax),
    })
    status = answer.status
    await answer.body?.cancel()
  } catch (error) {
    const reason = 'the S3 service cannot be reached: see AWS_ENDPOINT_URL and AWS_REGION'
    throw new CommandFailure(reason, 1, error)
  }
  if (status >= 200 && status < 300) return
  throw new CommandFailure(refusals[status] ?? `the S3 service has answered ${status}`)
}
