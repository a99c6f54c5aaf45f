/**
 * Wrong files for TLS: each is refused, and none is waited for.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import { chownSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readTls } from '../../../src/server/listen/tls-files.ts'
import { selfSigned, type CertificateFiles } from '../../support/certificates.ts'
import { temporaryFolder } from '../../support/folders.ts'

let folder: string
let own: CertificateFiles
let other: CertificateFiles

beforeAll(() => {
  folder = temporaryFolder()
  own = selfSigned(folder, 'own')
  other = selfSigned(folder, 'other')
})

test('authorities of which the last is cut off are refused as a whole', () => {
  const clientCa = join(folder, 'ca.pem')
  const whole = readFileSync(own.cert, 'utf8') + readFileSync(other.cert, 'utf8')
  writeFileSync(clientCa, whole)
  expect(readTls({ ...own, clientCa }).ca?.length).toBe(whole.length)
  writeFileSync(clientCa, whole.slice(0, -100))
  expect(() => readTls({ ...own, clientCa })).toThrow('--tls-client-ca: ')
})

test('a pipe that nobody writes to is refused at once', () => {
  const cert = join(folder, 'pipe')
  Bun.spawnSync(['mkfifo', cert])
  expect(() => readTls({ ...own, cert })).toThrow('is no file of at most')
})

// Only root may give a file away.
test.skipIf(process.getuid?.() !== 0)('a key of somebody else is refused', () => {
  expect(readTls(own).key.length).toBeGreaterThan(0)
  chownSync(own.key, 65_534, 65_534)
  expect(() => readTls(own)).toThrow('is of others or open to them')
  chownSync(own.key, 0, 0)
})
