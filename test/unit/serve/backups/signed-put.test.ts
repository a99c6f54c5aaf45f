/**
 * A small object goes to an S3 service only over a certificate that is to be trusted, and its
 * answer is not inflated.
 * @module
 */
import { afterEach, expect, test } from 'bun:test'
import { putSmall } from '../../../../src/server/backup/signed-put.ts'
import { selfSigned } from '../../../support/certificates.ts'
import { temporaryFolder } from '../../../support/folders.ts'

const name = 'NODE_TLS_REJECT_UNAUTHORIZED'
const before = process.env[name]
afterEach(() => {
  if (before === undefined) delete process.env[name]
  else process.env[name] = before
})

test('a variable of the environment makes no certificate one to be trusted', async () => {
  const { cert, key } = selfSigned(temporaryFolder(), 'stranger')
  let asked = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { cert: Bun.file(cert), key: Bun.file(key) },
    fetch() {
      asked += 1
      return new Response()
    },
  })
  process.env[name] = '0'
  const access = {
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    region: 'us-east-1',
    endpoint: `https://127.0.0.1:${server.port}`,
  }
  const object = { bucket: 'b', key: 'k', body: new Uint8Array(1), nowMs: 0 }
  await expect(putSmall(access, object)).rejects.toThrow('cannot be reached')
  expect(asked).toBe(0)
  await server.stop(true)
})

// proves E28.4
test.each(['gzip', 'br', 'zstd'])('an answer that says it is %s is not inflated', async coding => {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    // Inflating it fails.
    fetch: () => new Response('of no coding', { headers: { 'content-encoding': coding } }),
  })
  const endpoint = server.url.origin
  const access = { accessKeyId: 'id', secretAccessKey: 'secret', region: 'us-east-1', endpoint }
  const object = { bucket: 'b', key: 'k', body: new Uint8Array(1), nowMs: 0 }
  expect(await putSmall(access, object)).toBeUndefined()
  await server.stop(true)
})
