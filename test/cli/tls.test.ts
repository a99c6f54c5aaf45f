/**
 * `--tls-cert`, `--tls-key` and `--tls-client-ca`: callers that are served, refusals before any is,
 * and SIGHUP.
 * @module
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  selfSigned,
  selfSignedBetween,
  selfSignedRsa,
  signedBy,
  type CertificateFiles,
} from '../support/certificates.ts'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { openConnection } from '../support/connection.ts'
import { temporaryFolder } from '../support/folders.ts'
import { shakeHands, startTlsServer, type TlsServer } from '../support/tls-server.ts'

setDefaultTimeout(300_000)

let root: string
let data: string
let own: CertificateFiles
beforeAll(async () => {
  root = temporaryFolder()
  data = join(root, 'data')
  await runCoffer(['init', '--data', data])
  own = selfSigned(root, 'own')
})

interface Told {
  readonly event: string
  readonly cause?: string
}

/** Returns the TLS events that a server told before it ended. */
const tlsEventsOf = async ({ stderr }: Running): Promise<readonly Told[]> =>
  (await stderr)
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Told)
    .filter(({ event }) => event.startsWith('tls_'))

const tlsArgs = ({ cert, key }: CertificateFiles) => ['--tls-cert', cert, '--tls-key', key]

describe('a served certificate', () => {
  let tls: TlsServer
  beforeAll(async () => {
    tls = await startTlsServer()
  })
  afterAll(() => tls.server.end('SIGKILL'))

  const ask = (options: object = {}) =>
    fetch(`https://127.0.0.1:${tls.port}/applications/key`, {
      headers: { 'SVC-API-KEY': tls.key },
      tls: { ca: readFileSync(tls.certificates[0].cert), rejectUnauthorized: true },
      ...options,
    })

  test('is one that clients check, by HTTPS', async () => {
    expect((await ask()).status).toBe(200)
    await expect(
      ask({ tls: { ca: readFileSync(own.cert), rejectUnauthorized: true } }),
    ).rejects.toThrow()
  })

  // proves S31
  test('is shown by TLS 1.2 and 1.3, and by nothing older', async () => {
    const by = (version: 'TLSv1.2' | 'TLSv1.3') =>
      shakeHands(tls.port, { minVersion: version, maxVersion: version })
    expect((await by('TLSv1.2')).protocol).toBe('TLSv1.2')
    expect((await by('TLSv1.3')).protocol).toBe('TLSv1.3')
    const older = ['-tls1_1', '-cipher', 'DEFAULT@SECLEVEL=0', '-connect', `127.0.0.1:${tls.port}`]
    const { stderr } = Bun.spawnSync(['openssl', 's_client', ...older], { stdin: 'ignore' })
    expect(stderr.toString()).toContain('alert protocol version')
  })

  test('is for HTTP/1.1: anyone who offers HTTP/2 too gets no other', async () => {
    const { alpn } = await shakeHands(tls.port, { ALPNProtocols: ['h2', 'http/1.1'] })
    expect(alpn).not.toBe('h2')
  })

  // proves S31
  test('answers no plain HTTP', async () => {
    const connection = await openConnection({ hostname: '127.0.0.1', port: tls.port })
    const { key } = tls
    await expect(connection.ask('GET', '/applications/key', { key })).rejects.toThrow()
  })
})

describe('files that cannot be served with', () => {
  const named = (name: string, text: string, mode = 0o600): string => {
    const path = join(root, name)
    writeFileSync(path, text)
    chmodSync(path, mode)
    return path
  }

  // proves E12.25, S31, S35
  test.each<[string, () => Partial<CertificateFiles> & { readonly ca?: string }, string]>([
    [
      'no certificate there',
      () => ({ cert: join(root, 'absent') }),
      '--tls-cert: there is no file',
    ],
    ['no key there', () => ({ key: join(root, 'absent') }), '/absent: check its name'],
    ['a folder', () => ({ cert: root }), '--tls-cert: '],
    [
      'no PEM',
      () => ({ cert: named('no.pem', 'c4n4ry') }),
      'or a damaged one: get it anew from its issuer',
    ],
    [
      'a damaged certificate',
      () => ({ cert: named('bad.pem', readFileSync(own.cert, 'utf8').replace('MII', 'MIX')) }),
      'a damaged one',
    ],
    ['no private key', () => ({ key: named('no.key', 'c4n4ry') }), 'holds no private key'],
    [
      'the key of another certificate',
      () => ({ key: selfSigned(root, 'other').key }),
      'the key does not belong to the certificate',
    ],
    [
      'a key that others may read',
      () => ({ key: named('open.key', readFileSync(own.key, 'utf8'), 0o644) }),
      'is of others or open to them',
    ],
    [
      'signers of callers that others may write',
      () => ({ ca: named('open-ca.pem', readFileSync(own.cert, 'utf8'), 0o646) }),
      'open-ca.pem may be written by others: chmod go-w it',
    ],
  ])('%s: one line names it, and nothing is served', async (_what, change, says) => {
    const { ca, ...files } = change()
    const args = tlsArgs({ ...own, ...files })
    if (ca !== undefined) args.push('--tls-client-ca', ca)
    for (const workers of ['1', '2']) {
      const serve = ['serve', '--data', data, '--port', '0', '--workers', workers, ...args]
      const { exitCode, stdout, stderr } = await runCoffer(serve)
      expect([exitCode, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
      expect(stderr).toContain(says)
      expect(stderr).not.toContain('c4n4ry')
    }
    const doctor = await runCoffer(['doctor', '--data', data, ...args])
    expect(doctor.exitCode).toBe(1)
    expect(doctor.stdout).toContain(says)
  })

  test.each([
    ['has expired', 'tls_certificate_expired', '20200101000000Z', '20210101000000Z'],
    ['is not valid yet', 'tls_certificate_not_yet_valid', '20900101000000Z', '20910101000000Z'],
  ])('a certificate that %s is served, and told of', async (says, event, from, until) => {
    const files = selfSignedBetween(root, `times-${event}`, from, until)
    const args = tlsArgs(files)
    const server = await startCoffer(['serve', '--data', data, '--port', '0', ...args])
    expect(await server.end('SIGTERM')).toBe(0)
    expect((await tlsEventsOf(server)).map(told => told.event)).toEqual([event])
    const { stdout, exitCode } = await runCoffer(['doctor', '--data', data, ...args])
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`warning: --tls-cert: the TLS certificate ${says}`)
  })

  test('a certificate that ends within days is told of, and one of years is not', async () => {
    const doctor = (files: CertificateFiles) =>
      runCoffer(['doctor', '--data', data, ...tlsArgs(files)])
    const soon = await doctor(selfSigned(root, 'soon', '-days', '3'))
    expect(soon.stdout).toContain('warning: --tls-cert: the TLS certificate expires within 14 days')
    const late = await doctor(selfSigned(root, 'late', '-days', '300'))
    expect(late.stdout).not.toContain('the TLS certificate')
  })
})

describe('files of TLS', () => {
  const withMark = (path: string): string => {
    const marked = `${path}.marked`
    const mark = Buffer.from([0xef, 0xbb, 0xbf])
    writeFileSync(marked, Buffer.concat([mark, readFileSync(path)]), { mode: 0o600 })
    return marked
  }

  test('with a byte order mark are served, as the doctor says', async () => {
    const files = { cert: withMark(own.cert), key: withMark(own.key) }
    const authority = withMark(selfSigned(root, 'marked-authority').cert)
    const args = [...tlsArgs(files), '--tls-client-ca', authority]
    const { stdout } = await runCoffer(['doctor', '--data', data, '--port', '0', ...args])
    expect(stdout).not.toContain('--tls')
    const server = await startCoffer(['serve', '--data', data, '--port', '0', ...args])
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('with a byte order mark within the certificate are served with both', async () => {
    const other = selfSigned(root, 'marked-other')
    const cert = join(root, 'joined.pem')
    writeFileSync(
      cert,
      Buffer.concat([own.cert, withMark(other.cert)].map(path => readFileSync(path))),
    )
    const args = tlsArgs({ cert, key: own.key })
    const server = await startCoffer(['serve', '--data', data, '--port', '0', ...args])
    const port = /:(\d+)\s*$/.exec(server.ready)?.[1] ?? ''
    const words = ['s_client', '-connect', `127.0.0.1:${port}`, '-showcerts']
    const shown = Bun.spawnSync(['openssl', ...words]).stdout.toString()
    expect(shown.split('BEGIN CERTIFICATE')).toHaveLength(3)
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test.each([
    [1024, ['tls_key_weak']],
    [2048, []],
  ])(
    'with a key of RSA of %i bits are served, and told of where that is weak',
    async (bits, told) => {
      const files = selfSignedRsa(root, `rsa-${bits}`, bits)
      const args = tlsArgs(files)
      const server = await startCoffer(['serve', '--data', data, '--port', '0', ...args])
      expect(await server.end('SIGTERM')).toBe(0)
      expect((await tlsEventsOf(server)).map(({ event }) => event)).toEqual([...told])
      const { stdout, exitCode } = await runCoffer([
        'doctor',
        '--data',
        data,
        '--port',
        '0',
        ...args,
      ])
      expect(exitCode).toBe(0)
      const weak = 'warning: --tls-cert: the TLS certificate has a key of RSA below 2048 bits'
      expect(stdout.includes(weak)).toBe(told.length > 0)
    },
  )
})

describe('callers who must have a certificate', () => {
  let tls: TlsServer
  let known: CertificateFiles
  let unknown: CertificateFiles
  beforeAll(async () => {
    const authority = selfSigned(root, 'authority')
    known = signedBy(authority, root, 'known')
    unknown = signedBy(selfSigned(root, 'stranger'), root, 'unknown')
    tls = await startTlsServer('--tls-client-ca', authority.cert)
  })
  afterAll(() => tls.server.end('SIGKILL'))

  const statusFor = (files?: CertificateFiles): Promise<number | undefined> => {
    const mine = files && { cert: readFileSync(files.cert), key: readFileSync(files.key) }
    return fetch(`https://127.0.0.1:${tls.port}/applications/key`, {
      headers: { 'SVC-API-KEY': tls.key },
      tls: { ...mine, rejectUnauthorized: false },
    }).then(
      ({ status }) => status,
      () => undefined,
    )
  }

  // proves S32
  test('are served with one that was signed, and by no other, nor without', async () => {
    expect(await statusFor(known)).toBe(200)
    expect(await statusFor(unknown)).toBeUndefined()
    expect(await statusFor()).toBeUndefined()
  })

  // proves S32
  test('must have it after a change of certificates, too', async () => {
    tls.put(tls.certificates[1])
    process.kill(tls.server.pid, 'SIGHUP')
    while ((await nameFor(known)) !== 'two') await Bun.sleep(20)
    expect(await statusFor(known)).toBe(200)
    expect(await statusFor(unknown)).toBeUndefined()
    expect(await statusFor()).toBeUndefined()
  })

  const nameFor = async ({ cert, key }: CertificateFiles): Promise<string> => {
    const mine = { cert: readFileSync(cert), key: readFileSync(key) }
    return (await shakeHands(tls.port, mine)).name
  }
})

describe('SIGHUP', () => {
  const target = (port: number) => ({
    hostname: '127.0.0.1',
    port,
    tls: { rejectUnauthorized: false },
  })

  async function endOf({ server }: TlsServer): Promise<readonly Told[]> {
    expect(await server.end('SIGTERM')).toBe(0)
    return tlsEventsOf(server)
  }

  // proves S33
  test.each([['1'], ['2']])(
    'with files that are wrong changes nothing, and is told of once, with %s workers',
    async workers => {
      const tls = await startTlsServer('--workers', workers)
      writeFileSync(tls.files.cert, 'c4n4ry')
      process.kill(tls.server.pid, 'SIGHUP')
      await Bun.sleep(3_000)
      expect((await shakeHands(tls.port)).name).toBe('one')
      const [told, ...others] = await endOf(tls)
      expect(others).toEqual([])
      expect(told).toMatchObject({ event: 'tls_not_reloaded' })
      expect(told?.cause).toContain('--tls-cert')
      expect(told?.cause).not.toContain('c4n4ry')
    },
  )

  // proves C2.26
  test('has connections end with their next answer, and new ones see the new file', async () => {
    const tls = await startTlsServer()
    const { key, port } = tls
    const old = await openConnection(target(port))
    const ask = () => old.ask('GET', '/applications/key', { key })
    expect((await ask()).head.toLowerCase()).not.toContain('connection: close')
    tls.put(tls.certificates[1])
    process.kill(tls.server.pid, 'SIGHUP')
    while ((await shakeHands(port)).name !== 'two') await Bun.sleep(20)
    const { status, head } = await ask()
    expect(status).toBe(200)
    expect(head.toLowerCase()).toContain('connection: close')
    while (old.isOpen()) await Bun.sleep(5)
    expect((await endOf(tls)).map(({ event }) => event)).toEqual(['tls_reloaded'])
  })
})
