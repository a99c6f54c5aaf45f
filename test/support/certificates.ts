/**
 * Certificates for tests, made by the command `openssl`: operators do not make theirs with coffer.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

function openssl(...args: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(['openssl', ...args])
  if (exitCode !== 0) throw new Error(`tests of TLS need openssl: ${stderr.toString()}`)
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
const forLoopback = ['-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost']

/** Makes a self-signed certificate, for a server on loopback or for a signer of others. */
export function selfSigned(
  folder: string,
  name: string,
  ...more: readonly string[]
): CertificateFiles {
  const files = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) }
  const out = ['-keyout', files.key, '-out', files.cert, '-subj', `/CN=${name}`]
  openssl('req', '-x509', ...newKey, ...out, ...forLoopback, ...more)
  return files
}

/** Makes a self-signed certificate for a server of that DNS name. */
export function selfSignedFor(folder: string, host: string): CertificateFiles {
  const files = { cert: join(folder, `${host}.pem`), key: join(folder, `${host}.key`) }
  const out = ['-keyout', files.key, '-out', files.cert, '-subj', `/CN=${host}`]
  openssl('req', '-x509', ...newKey, ...out, '-addext', `subjectAltName=DNS:${host}`)
  return files
}

/** Like `selfSigned`, with an RSA key of that many bits. */
export function selfSignedRsa(folder: string, name: string, bits: number): CertificateFiles {
  const files = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) }
  const out = ['-keyout', files.key, '-out', files.cert, '-subj', `/CN=${name}`]
  openssl(
    'req',
    '-x509',
    '-newkey',
    `rsa:${bits}`,
    '-nodes',
    ...out,
    ...forLoopback,
    '-days',
    '300',
  )
  return files
}

/** Makes a certificate signed by another one: for a client, unless `more` names a server. */
export function signedBy(
  signer: CertificateFiles,
  folder: string,
  name: string,
  ...more: readonly string[]
): CertificateFiles {
  const files = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) }
  const by = ['-CA', signer.cert, '-CAkey', signer.key]
  const out = ['-keyout', files.key, '-out', files.cert, '-subj', `/CN=${name}`]
  openssl('req', '-x509', ...newKey, ...out, ...by, ...more)
  return files
}

/** Makes the certificate of a server that expired a day ago. @param host its DNS name */
export function expiredFor(
  signer: CertificateFiles,
  folder: string,
  host: string,
): CertificateFiles {
  const [request, names] = [join(folder, 'expired.csr'), join(folder, 'expired.ext')]
  const files = { cert: join(folder, 'expired.pem'), key: join(folder, 'expired.key') }
  openssl('req', ...newKey, '-keyout', files.key, '-out', request, '-subj', '/CN=expired')
  writeFileSync(names, `subjectAltName=DNS:${host}\n`)
  const by = ['-CA', signer.cert, '-CAkey', signer.key, '-CAcreateserial']
  openssl(
    'x509',
    '-req',
    '-in',
    request,
    '-out',
    files.cert,
    ...by,
    '-days',
    '-1',
    '-extfile',
    names,
  )
  return files
}

/** @param from and until such as `20200101000000Z` */
export function selfSignedBetween(
  folder: string,
  name: string,
  from: string,
  until: string,
): CertificateFiles {
  const request = join(folder, `${name}.csr`)
  const files = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) }
  openssl('req', ...newKey, '-keyout', files.key, '-out', request, '-subj', `/CN=${name}`)
  const [config, list] = [join(folder, `${name}.cnf`), join(folder, `${name}.txt`)]
  writeFileSync(list, '')
  const settings = [
    `database = ${list}`,
    `new_certs_dir = ${folder}`,
    'default_md = sha256',
    'policy = any',
    'rand_serial = yes',
  ]
  const sections = ['[ca]', 'default_ca = own', '[own]', ...settings, '[any]', 'CN = supplied', '']
  writeFileSync(config, sections.join('\n'))
  const times = ['-startdate', from, '-enddate', until]
  const what = ['-in', request, '-keyfile', files.key, '-out', files.cert]
  openssl('ca', '-batch', '-selfsign', '-notext', '-config', config, ...what, ...times)
  return files
}
