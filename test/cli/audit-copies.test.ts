/**
 * Checkpoints in a bucket of a real S3 server: a server sends them, and `audit verify` finds by
 * them that a folder was put back.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { putSmall } from '../../src/server/backup/signed-put.ts'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { hasMoto, motoMissing, startMoto, type Moto } from '../support/moto.ts'
import { until } from '../support/until.ts'

const bucket = 'kept-elsewhere'
const place = `s3://${bucket}/vault-1`
let moto: Moto
let credentials: Readonly<Record<string, string>>

if (!hasMoto) console.warn(`checkpoints in a bucket are not tested: ${motoMissing}`)

beforeAll(async () => {
  if (!hasMoto) return
  moto = await startMoto()
  await moto.makeBucket(bucket)
  credentials = {
    AWS_ACCESS_KEY_ID: 'any',
    AWS_SECRET_ACCESS_KEY: 'any',
    AWS_ENDPOINT_URL: moto.url,
    AWS_REGION: 'us-east-1',
  }
}, 300_000)

afterAll(async () => {
  if (hasMoto) await moto.stop()
})

const clientOf = () =>
  new Bun.S3Client({
    accessKeyId: 'any',
    secretAccessKey: 'any',
    endpoint: moto.url,
    region: 'us-east-1',
    bucket,
  })

const listKept = async (prefix = 'vault-1/'): Promise<string[]> =>
  ((await clientOf().list({ prefix })).contents ?? []).map(({ key }) => key)

/** Sizes of the logs that are kept, in the order of the service. */
const sizesKept = async (prefix?: string): Promise<number[]> =>
  (await listKept(prefix)).map(key => Number(/-(\d+)-\w+\.note$/.exec(key)?.[1]))

/** Number of entries in a log. */
async function sizeOf(data: string): Promise<number> {
  const { stdout } = await runCoffer(['audit', 'verify', '--data', data, '--json'])
  return (JSON.parse(stdout) as { size: number }).size
}

async function initIn(name: string): Promise<string> {
  const data = join(temporaryFolder(), name)
  expect((await runCoffer(['init', '--data', data, '--json'])).exitCode).toBe(0)
  return data
}

const serve = (data: string, to = place, ...more: readonly string[]) => {
  const words = ['serve', '--data', data, '--port', '0', '--audit-checkpoints-to', to]
  return startCoffer([...words, ...more], { env: credentials })
}

const verify = (data: string, at = place) =>
  runCoffer(['audit', 'verify', '--data', data, '--pinned', at], { env: credentials })

/** Serves until one more checkpoint is kept. */
async function serveOnce(data: string, name: string): Promise<void> {
  const before = (await listKept(`${name}/`)).length
  const server = await serve(data, `s3://${bucket}/${name}`)
  await until(async () => (await listKept(`${name}/`)).length > before)
  expect(await server.end('SIGTERM')).toBe(0)
}

describe.skipIf(!hasMoto)('checkpoints in a bucket', () => {
  // proves S94
  test('are there once signed, prove a log, and show that a folder was put back', async () => {
    const data = await initIn('vault')
    const first = await serve(data)
    await until(async () => (await listKept()).length > 0)
    expect(await first.end('SIGTERM')).toBe(0)
    const older = join(temporaryFolder(), 'older')
    cpSync(data, older, { recursive: true })
    // Its start and end are entries, which the one after it signs first.
    expect(await (await serve(data)).end('SIGTERM')).toBe(0)
    const second = await serve(data)
    const olderSize = await sizeOf(older)
    await until(async () => ((await sizesKept())[0] ?? 0) > olderSize)
    expect(await second.end('SIGTERM')).toBe(0)
    const sizes = await sizesKept()
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a))
    const verified = await verify(data)
    expect(verified).toMatchObject({ exitCode: 0, stderr: '' })
    expect(verified.stdout).toContain('all is as it was signed')
    expect(verified.stdout).not.toContain('only a checkpoint that was kept elsewhere')
    rmSync(data, { recursive: true })
    cpSync(older, data, { recursive: true })
    const { exitCode, stderr } = await verify(data)
    expect(exitCode).toBe(1)
    expect(stderr).toContain('the log ends here, before what was signed or announced')
  }, 300_000)

  // proves S94, E28.3
  test('show that a folder was put back, also once it has grown beyond all of them', async () => {
    const data = await initIn('grown')
    const name = 'vault-2'
    await serveOnce(data, name)
    const older = join(temporaryFolder(), 'older')
    cpSync(data, older, { recursive: true })
    const newestKept = async () => (await sizesKept(`${name}/`))[0] ?? 0
    const olderSize = await sizeOf(older)
    while ((await newestKept()) <= olderSize) await serveOnce(data, name)
    const whole = await verify(data, `s3://${bucket}/${name}`)
    expect(whole).toMatchObject({ exitCode: 0, stderr: '' })
    const lost = await newestKept()
    rmSync(data, { recursive: true })
    cpSync(older, data, { recursive: true })
    while ((await newestKept()) <= lost) await serveOnce(data, name)
    const { exitCode, stderr } = await verify(data, `s3://${bucket}/${name}`)
    expect(exitCode).toBe(1)
    expect(stderr).toContain('checkpoint pinned: ')
  }, 300_000)

  // proves S94, E28.3
  test('are refused where others were put among them, or in their place', async () => {
    const data = await initIn('covered')
    const name = 'vault-3'
    await serveOnce(data, name)
    await serveOnce(data, name)
    const [newest = '', first = ''] = await listKept(`${name}/`)
    const note = await clientOf().file(first).text()
    const log = newest.slice(0, newest.lastIndexOf('/'))
    for (const key of [newest, `${log}/000000000000000-281474976710655.note`, `${log}/0`]) {
      const kept = key === newest ? await clientOf().file(newest).text() : undefined
      await clientOf().write(key, note)
      const { exitCode, stderr } = await verify(data, `s3://${bucket}/${name}`)
      expect(exitCode).toBe(1)
      expect(stderr).toContain(`s3://${bucket}/${key} is no checkpoint of what its name says`)
      if (kept === undefined) await clientOf().delete(key)
      else await clientOf().write(key, kept)
    }
    expect((await verify(data, `s3://${bucket}/${name}`)).exitCode).toBe(0)
    // As the first servers named them.
    await clientOf().delete(first)
    await clientOf().write(first.replace(/-\w+\.note$/, '.note'), note)
    expect((await verify(data, `s3://${bucket}/${name}`)).exitCode).toBe(0)
  }, 300_000)

  test('of another log are not taken', async () => {
    const data = await initIn('other')
    const server = await startCoffer(['serve', '--data', data, '--port', '0'])
    const hasKey = async () => (await runCoffer(['audit', 'key', '--data', data])).exitCode === 0
    await until(hasKey)
    expect(await server.end('SIGTERM')).toBe(0)
    const { exitCode, stderr } = await verify(data)
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`--pinned: there is no checkpoint of this log at ${place}`)
  }, 300_000)

  test('that cannot be sent are told once and counted, and the server serves on', async () => {
    const data = await initIn('refused')
    const server = await serve(data, 's3://no-such-bucket', '--ops-port', '0')
    const ops = /http:\S+/.exec(server.ready.split('\n').find(line => /metrics/.test(line)) ?? '')
    const failed = 'coffer_audit_copies_total{outcome="failed"} 1'
    await until(async () => (await (await fetch(`${ops?.[0]}/metrics`)).text()).includes(failed))
    expect(await server.end('SIGTERM')).toBe(0)
    const logged = await server.stderr
    expect(logged.match(/"event":"audit_copy_failed"/g)).toHaveLength(1)
    expect(logged).toContain('there is no such bucket: make it first')
  }, 300_000)

  test('without credentials do not start a server', async () => {
    const data = await initIn('no-credentials')
    const words = ['serve', '--data', data, '--port', '0', '--audit-checkpoints-to', place]
    const { exitCode, stderr } = await runCoffer(words)
    expect(exitCode).toBe(2)
    expect(stderr).toContain('expected AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  }, 300_000)

  test('are signed as the service checks it, and have a checksum', async () => {
    const { id, secret } = await moto.guard()
    const checksums: (string | null)[] = []
    const relay = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch(request) {
        checksums.push(request.headers.get('content-md5'))
        return new Response()
      },
    })
    const access = { accessKeyId: id, secretAccessKey: secret, region: 'us-east-1' }
    const object = { bucket, key: 'signed/coffer/1/2-3.note', nowMs: Date.now() }
    const body = Buffer.from('a note')
    const there = { ...access, endpoint: moto.url }
    await putSmall(there, { ...object, body })
    const wrong = { ...there, secretAccessKey: 'planted-wrong' }
    await expect(putSmall(wrong, { ...object, body })).rejects.toThrow(/refuses the credentials/)
    await moto.open()
    expect(await clientOf().file(object.key).text()).toBe('a note')
    const none = { ...object, bucket: 'no-such-bucket', body }
    await expect(putSmall(there, none)).rejects.toThrow('there is no such bucket: make it first')
    const other = { ...access, endpoint: `http://127.0.0.1:${relay.port}` }
    await putSmall(other, { ...object, body })
    expect(checksums).toEqual([new Bun.CryptoHasher('md5').update(body).digest('base64')])
    await relay.stop(true)
    await expect(putSmall(other, none)).rejects.toThrow('the S3 service cannot be reached')
  }, 300_000)
})
