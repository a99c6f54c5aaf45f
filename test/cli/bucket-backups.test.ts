/**
 * Backups in a bucket of a real S3 server, while the way between it and the vault is cut and
 * changed.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { uploadPartBytes } from '../../src/limits/operation-limits.ts'
import { runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { writeDatedBackup } from '../support/dated-backup.ts'
import { temporaryFolder } from '../support/folders.ts'
import { hasMoto, motoMissing, startMoto, type Moto } from '../support/moto.ts'
import { until } from '../support/until.ts'

const secret = 'planted-5555444433331111'
const bucket = 'vault-backups'
let moto: Moto
let data: string
let masterKey: string
let folderWords: string[]

type Environment = Readonly<Record<string, string>>

const environmentOf = (endpoint: string, id = 'any', key = 'planted-secret'): Environment => ({
  AWS_ACCESS_KEY_ID: id,
  AWS_SECRET_ACCESS_KEY: key,
  AWS_ENDPOINT_URL: endpoint,
  AWS_REGION: 'us-east-1',
})

const clientOf = () =>
  new Bun.S3Client({
    accessKeyId: 'any',
    secretAccessKey: 'any',
    endpoint: moto.url,
    region: 'us-east-1',
    bucket,
  })

const keysIn = async (prefix: string): Promise<string[]> =>
  ((await clientOf().list({ prefix })).contents ?? []).map(({ key }) => key)

/** A vault whose backup takes more than one part. */
async function makeVault(): Promise<void> {
  const folder = temporaryFolder()
  data = join(folder, 'vault')
  masterKey = join(folder, 'master.key')
  folderWords = ['--data', data, '--master-key-file', masterKey]
  const { stdout } = await runCoffer(['init', ...folderWords, '--json'])
  const { key } = JSON.parse(stdout) as { key: string }
  const server = await startCoffer(['serve', ...folderWords, '--port', '0'])
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? ''
  const post = (path: string, by: string, body: object) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'SVC-API-KEY': by, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const permissions = ['token:create']
  const made = await post('/applications', key, { name: 'a', type: 'private', permissions })
  const { key: creator } = (await made.json()) as { key: string }
  for (let bytes = 0; bytes < 1.2 * uploadPartBytes; bytes += 10 * 90_000) {
    const items = Array.from({ length: 10 }, (_, at) => `${secret} ${bytes} ${at}`.padEnd(90_000))
    expect((await post('/tokenize', creator, items)).status).toBe(200)
  }
  expect(await server.end('SIGTERM')).toBe(0)
}

if (!hasMoto) console.warn(`backups in a bucket are not tested: ${motoMissing}`)

beforeAll(async () => {
  if (!hasMoto) return
  moto = await startMoto()
  await moto.makeBucket(bucket)
  await makeVault()
}, 300_000)

afterAll(async () => {
  if (hasMoto) await moto.stop()
})

const backup = (key: string, env = environmentOf(moto.url), ...more: string[]): Promise<Ended> =>
  runCoffer(['backup', ...folderWords, '--to', `s3://${bucket}/${key}`, ...more], { env })

function expectFailure(ended: Ended, exitCode: number, says: RegExp): void {
  expect([ended.exitCode, ended.stdout]).toEqual([exitCode, ''])
  expect(ended.stderr).toMatch(/^coffer: [^\n]+\n$/)
  expect(ended.stderr).toMatch(says)
  expect(ended.stderr).not.toMatch(/planted/)
  expect(existsSync(join(data, 'uploading'))).toBe(false)
}

type Handle = (request: Request) => Promise<Response> | Response

/** Relay in front of the bucket: it hands requests on unchanged, unless a test steps in. */
function startRelay(between: (request: Request, handOn: Handle) => Promise<Response> | Response) {
  const handOn: Handle = async request => {
    const { pathname, search } = new URL(request.url)
    const { method, headers } = request
    const body = method === 'GET' || method === 'HEAD' ? {} : { body: await request.arrayBuffer() }
    return fetch(moto.url + pathname + search, { method, headers, ...body })
  }
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    maxRequestBodySize: 2 * uploadPartBytes,
    fetch: request => between(request, handOn),
  })
}

describe.skipIf(!hasMoto)('a backup in a bucket', () => {
  test('is there once it is told of, whole, and gives the vault back', async () => {
    const env = environmentOf(moto.url)
    const ended = await backup('here/one.backup', env, '--json')
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
    const { file, bytes } = JSON.parse(ended.stdout) as { file: string; bytes: number }
    expect(file).toBe(`s3://${bucket}/here/one.backup`)
    expect(bytes).toBeGreaterThan(uploadPartBytes)
    expect((await clientOf().file('here/one.backup').stat()).size).toBe(bytes)
    expect(readdirSync(data).sort()).toEqual(['audit.key', 'clock', 'format', 'lock', 'store'])
    const folder = temporaryFolder()
    const restored = join(folder, 'restored')
    const words = ['restore', file, '--data', restored, '--master-key-file', masterKey]
    const looked = await runCoffer([...words, '--verify-only'], { env })
    expect([looked.exitCode, looked.stderr]).toEqual([0, ''])
    expect(readdirSync(folder)).toEqual([])
    const kept = await runCoffer([...words, '--keep-keys'], { env })
    expect(kept).toMatchObject({ exitCode: 0, stderr: '' })
    expect(readdirSync(restored).sort()).toEqual(['format', 'lock', 'store'])
    const verify = ['verify', '--data', restored, '--master-key-file', masterKey]
    expect((await runCoffer(verify)).exitCode).toBe(0)
    expectFailure(await backup('here/one.backup'), 1, /there is something of that name/)
    expect(await keysIn('here/')).toEqual(['here/one.backup'])
  }, 300_000)

  test('is refused without a name, without credentials, and where nobody answers', async () => {
    expectFailure(await backup(''), 2, /expected the name of a file as well/)
    expectFailure(await backup('../x'), 2, /expected an address such as s3:/)
    expectFailure(await backup('x', {}), 2, /expected AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/)
    const nobody = environmentOf('http://127.0.0.1:1')
    expectFailure(await backup('x', nobody), 1, /the S3 service cannot be reached/)
    // Refused by the resolver of this machine: longer than a label may be.
    const nameless = environmentOf(`http://${'a'.repeat(64)}.invalid`)
    expectFailure(await backup('x', nameless), 1, /cannot be reached: see AWS_ENDPOINT_URL/)
    expect(await keysIn('x')).toEqual([])
  }, 300_000)

  test('is refused where there is no such bucket, and no such key is restored', async () => {
    const env = environmentOf(moto.url)
    const to = ['--to', 's3://no-such-bucket/one.backup']
    const ended = await runCoffer(['backup', ...folderWords, ...to], { env })
    expectFailure(ended, 1, /there is no such bucket: make it first/)
    const folder = temporaryFolder()
    const words = [
      '--data',
      join(folder, 'restored'),
      '--master-key-file',
      masterKey,
      '--keep-keys',
    ]
    const missing = await runCoffer(['restore', `s3://${bucket}/missing`, ...words], { env })
    expectFailure(missing, 1, /there is no backup of that name in the bucket/)
    expect(readdirSync(folder)).toEqual([])
  }, 300_000)

  test('is refused with other credentials, and made with the right ones', async () => {
    const { id, secret: key } = await moto.guard()
    const wrongId = await backup('guarded', environmentOf(moto.url, 'AKIAWRONG', key))
    const wrongKey = await backup('guarded', environmentOf(moto.url, id, 'planted-wrong'))
    const right = await backup('guarded', environmentOf(moto.url, id, key))
    await moto.open()
    expectFailure(wrongId, 1, /the bucket refuses the credentials/)
    expectFailure(wrongKey, 1, /the bucket refuses the credentials/)
    expect(right).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await keysIn('guarded')).toEqual(['guarded'])
  }, 300_000)

  test('that is cut while it is sent has no name', async () => {
    const relay = startRelay((request, handOn) => {
      if (new URL(request.url).searchParams.get('partNumber') === '2') {
        void relay.stop(true)
        return new Response(null, { status: 500 })
      }
      return handOn(request)
    })
    const ended = await backup('cut', environmentOf(`http://127.0.0.1:${relay.port}`))
    expectFailure(ended, 1, /the S3 service/)
    expect(await keysIn('cut')).toEqual([])
  }, 300_000)

  test('that is read back as something else is taken away again', async () => {
    const relay = startRelay(async (request, handOn) => {
      const answer = await handOn(request)
      if (request.method !== 'GET' || !request.url.includes('/changed')) return answer
      const bytes = new Uint8Array(await answer.arrayBuffer())
      bytes[100] = (bytes[100] ?? 0) ^ 1
      return new Response(bytes, { status: answer.status })
    })
    const ended = await backup('changed', environmentOf(`http://127.0.0.1:${relay.port}`))
    void relay.stop(true)
    expectFailure(ended, 1, /the backup in the bucket is not what was sent/)
    expect(await keysIn('changed')).toEqual([])
  }, 300_000)
})

describe.skipIf(!hasMoto)('a server that puts its backups into a bucket', () => {
  test('makes one, and takes the oldest beyond those to keep and nothing else', async () => {
    const hour = 3_600_000
    const client = clientOf()
    const made = temporaryFolder()
    const old = [70, 80].map(hours => writeDatedBackup(made, masterKey, Date.now() - hours * hour))
    const foreign = ['auto/mine', 'auto/deeper/coffer-20200101T000000Z.backup']
    for (const key of foreign) await client.write(key, key)
    for (const name of old) await client.write(`auto/${name}`, Bun.file(join(made, name)))
    const where = ['--backup-to', `s3://${bucket}/auto`, '--backup-keep', '2']
    const words = ['serve', ...folderWords, '--port', '0', ...where]
    const server = await startCoffer(words, { env: environmentOf(moto.url) })
    const [kept = ''] = old
    await until(async () => !(await keysIn('auto/')).includes(`auto/${old[1]}`))
    expect(await server.end('SIGTERM')).toBe(0)
    expect(await server.stderr).not.toContain('backup_failed')
    const keys = await keysIn('auto/')
    expect(keys).toEqual(expect.arrayContaining([...foreign, `auto/${kept}`]))
    expect(keys).toHaveLength(4)
    expect(existsSync(join(data, 'uploading'))).toBe(false)
  }, 300_000)
})

describe.skipIf(!Bun.which('openssl'))('an S3 service whose certificate nobody vouches for', () => {
  test('is told nothing, whatever the environment says of certificates', async () => {
    const folder = temporaryFolder()
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
    Bun.spawnSync(['openssl', ...words, ...names, '-keyout', key, '-out', cert])
    let asked = 0
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      tls: { key: Bun.file(key), cert: Bun.file(cert) },
      fetch() {
        asked += 1
        return new Response()
      },
    })
    const own = join(folder, 'own.key')
    writeFileSync(own, `${'0'.repeat(64)}\n`, { mode: 0o600 })
    const env = {
      ...environmentOf(`https://127.0.0.1:${server.port}`),
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
    }
    const target = ['--data', join(folder, 'restored'), '--master-key-file', own, '--keep-keys']
    const ended = await runCoffer(['restore', `s3://${bucket}/one`, ...target], { env })
    void server.stop(true)
    expect(ended).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ended.stderr).toContain('the S3 service has a certificate that is not to be trusted')
    expect(asked).toBe(0)
  }, 300_000)
})
