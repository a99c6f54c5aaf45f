/**
 * A real S3 server on loopback: moto, which `scripts/install-s3-tools` installs.
 * @module
 */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
const program = join(cache, 'coffer/moto-5.1.20/bin/moto_server')

export const hasMoto = existsSync(program)
export const motoMissing = 'moto is not installed: see scripts/install-s3-tools'

export interface Moto {
  readonly url: string
  readonly makeBucket: (name: string) => Promise<void>
  /** Turns authentication on, with credentials of a new user who may do everything with S3. */
  readonly guard: () => Promise<{ readonly id: string; readonly secret: string }>
  /** Turns authentication off. */
  readonly open: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** An AWS client names its service so; the rest of the header is not checked. */
const authorizationOf = (service: string): string =>
  `AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/${service}/aws4_request, ` +
  'SignedHeaders=host, Signature=any'

async function readUrl(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  for await (const piece of stream) {
    text += new TextDecoder().decode(piece)
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0]
    if (url !== undefined) return url
  }
  throw new Error(`moto has ended: ${text}`)
}

async function send(url: string, path: string, init: RequestInit): Promise<string> {
  const answer = await fetch(url + path, { ...init, proxy: '' })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`moto: ${answer.status} ${text}`)
  return text
}

export async function startMoto(): Promise<Moto> {
  const child = Bun.spawn([program, '-H', '127.0.0.1', '-p', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const url = await readUrl(child.stderr)
  const manage = (action: string, fields: Readonly<Record<string, string>>): Promise<string> =>
    send(url, '/', {
      method: 'POST',
      headers: { authorization: authorizationOf('iam') },
      body: new URLSearchParams({ Action: action, Version: '2010-05-08', ...fields }),
    })
  const resetAuth = (count: string) =>
    send(url, '/moto-api/reset-auth', { method: 'POST', body: count })
  return {
    url,
    async makeBucket(name) {
      const headers = { authorization: authorizationOf('s3') }
      await send(url, `/${name}`, { method: 'PUT', headers })
    },
    async guard() {
      const user = { UserName: 'backups' }
      await manage('CreateUser', user)
      const statement = { Effect: 'Allow', Action: 's3:*', Resource: '*' }
      const policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
      await manage('PutUserPolicy', { ...user, PolicyName: 's3', PolicyDocument: policy })
      const key = await manage('CreateAccessKey', user)
      const [, id = ''] = /<AccessKeyId>([^<]+)</.exec(key) ?? []
      const [, secret = ''] = /<SecretAccessKey>([^<]+)</.exec(key) ?? []
      await resetAuth('0')
      return { id, secret }
    },
    open: async () => void (await resetAuth('inf')),
    async stop() {
      child.kill()
      await child.exited
    },
  }
}
