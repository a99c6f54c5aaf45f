/**
 * A served vault with TLS, whose certificates can be replaced.
 * @module
 */
import { copyFileSync, chmodSync } from 'node:fs'
import { join } from 'node:path'
import { X509Certificate } from 'node:crypto'
import { connect, type ConnectionOptions } from 'node:tls'
import { runCoffer, startCoffer, type Running } from './coffer-process.ts'
import { selfSigned, type CertificateFiles } from './certificates.ts'
import { temporaryFolder } from './folders.ts'

export interface TlsServer {
  readonly server: Running
  readonly port: number
  readonly key: string
  /** Two certificates to serve with. */
  readonly certificates: readonly [CertificateFiles, CertificateFiles]
  /** Puts one where the server reads it. */
  readonly put: (files: CertificateFiles) => void
  readonly files: CertificateFiles
}

/** @param args more arguments of `serve` */
export async function startTlsServer(...args: readonly string[]): Promise<TlsServer> {
  const folder = temporaryFolder()
  const data = join(folder, 'data')
  const { stdout } = await runCoffer(['init', '--data', data, '--json'])
  const { key } = JSON.parse(stdout) as { key: string }
  const certificates = [selfSigned(folder, 'one'), selfSigned(folder, 'two')] as const
  const files = { cert: join(folder, 'served.pem'), key: join(folder, 'served.key') }
  const put = (from: CertificateFiles): void => {
    copyFileSync(from.cert, files.cert)
    copyFileSync(from.key, files.key)
    chmodSync(files.key, 0o600)
  }
  put(certificates[0])
  const tls = ['--tls-cert', files.cert, '--tls-key', files.key]
  const server = await startCoffer(['serve', '--data', data, '--port', '0', ...tls, ...args])
  const port = Number(/^Coffer listens on https:\/\/127\.0\.0\.1:(\d+)$/m.exec(server.ready)?.[1])
  return { server, port, key, certificates, put, files }
}

export interface Shaken {
  /** Name in the certificate of the server. */
  readonly name: string
  readonly protocol: string | null
  readonly alpn: string | false | null
}

/** Makes one handshake. @throws the error of the client, for example for a refused version */
export const shakeHands = (port: number, options: ConnectionOptions = {}): Promise<Shaken> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options })
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      const { raw } = socket.getPeerCertificate()
      const name = new X509Certificate(raw).subject.replace('CN=', '')
      resolve({ name, protocol: socket.getProtocol(), alpn: socket.alpnProtocol })
      socket.destroy()
    })
  })
