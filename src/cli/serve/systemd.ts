/**
 * `coffer systemd print`: a unit that serves a data folder with no privilege that it does not need,
 * and a unit of the socket that systemd listens on for it, which outlives a restart.
 *
 * The master key is a credential of the unit: systemd reads it as root and gives it to the process
 * in memory of its own, so that the user of the service cannot reach the file. A program of that
 * user can read the credential if it finds a way to its folder. Source: systemd.exec(5); scored by
 * `systemd-analyze security`.
 * @module
 */
import type { Command } from 'commander'
import { dirname, isAbsolute } from 'node:path'
import { usage } from '../../server/process/failure.ts'
import { bucketAddress } from '../../settings/setting-formats.ts'
import { ownBinary, sayNow } from '../../server/process/system.ts'

interface UnitOptions {
  readonly binary: string
  readonly data: string
  readonly masterKeyFile: string
  readonly port: string
  /** A Unix socket instead of the port. */
  readonly socket?: string
  readonly opsPort?: string
  /** A folder, or an address in a bucket. */
  readonly backupTo?: string
  /** An address in a bucket. */
  readonly auditCheckpointsTo?: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly config?: string
  readonly workers?: string
  /** Makes the unit of the service ask for the unit of the socket. */
  readonly activation?: boolean
  readonly socketUnit?: boolean
  /** Name of an encrypted credential, instead of that file. */
  readonly masterKeyCredential?: string
}

const credentialName = 'coffer.master-key'

/** The process may do only its work: files of its folder, and sockets. */
const hardening = [
  'DynamicUser=no',
  'NoNewPrivileges=yes',
  'CapabilityBoundingSet=',
  'AmbientCapabilities=',
  'ProtectSystem=strict',
  'ProtectHome=yes',
  'PrivateTmp=yes',
  'PrivateDevices=yes',
  'PrivateUsers=yes',
  'ProtectClock=yes',
  'ProtectHostname=yes',
  'ProtectKernelTunables=yes',
  'ProtectKernelModules=yes',
  'ProtectKernelLogs=yes',
  'ProtectControlGroups=yes',
  'ProtectProc=invisible',
  'ProcSubset=pid',
  'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'LockPersonality=yes',
  'RemoveIPC=yes',
  'SystemCallArchitectures=native',
  'SystemCallFilter=@system-service',
  'SystemCallFilter=~@privileged @resources',
  'SystemCallErrorNumber=EPERM',
  'UMask=0077',
]

/** A value in a unit must not be able to begin another line or a specifier. */
const plainPath = /^\/[\w./-]+$/

const isPath = (text: string): boolean => isAbsolute(text) && plainPath.test(text)

const isBucket = (text: string): boolean => bucketAddress.test(text) && /^[\w:./-]+$/.test(text)

function assertPaths(options: UnitOptions): void {
  const { binary, data, masterKeyFile, socket, tlsCert, tlsKey, config } = options
  const { backupTo, auditCheckpointsTo } = options
  const paths = { binary, data, masterKeyFile, socket, tlsCert, tlsKey, config }
  const wrong = Object.entries(paths).find(([, path]) => path !== undefined && !isPath(path))?.[0]
  if (wrong !== undefined) {
    const flag = `--${wrong.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
    const expected = 'expected an absolute path of letters, digits and . _ / -'
    throw usage(`${flag}: ${expected}`)
  }
  if (auditCheckpointsTo !== undefined && !isBucket(auditCheckpointsTo)) {
    throw usage('--audit-checkpoints-to: expected an address such as s3://bucket/prefix')
  }
  if (backupTo === undefined || isPath(backupTo) || isBucket(backupTo)) return
  const expected = 'expected an absolute path, or an address such as s3://bucket/prefix'
  throw usage(`--backup-to: ${expected}`)
}

/** systemd finds encrypted credentials by name in its own folder (systemd.exec(5)). */
const credentialLineOf = ({ masterKeyFile, masterKeyCredential: name }: UnitOptions): string =>
  name === undefined
    ? `LoadCredential=${credentialName}:${masterKeyFile}`
    : `LoadCredentialEncrypted=${name}`

/** Time for which `coffer serve` goes on when it is restarted on a socket of systemd. */
const drainSeconds = 2

function commandOf(options: UnitOptions): string {
  const { binary, data, port, masterKeyCredential, socket, config } = options
  const { opsPort, backupTo, auditCheckpointsTo, tlsCert, tlsKey, workers, activation } = options
  const flags = {
    data,
    'master-key-credential': masterKeyCredential ?? credentialName,
    ...(socket === undefined ? { port } : { socket }),
    'ops-port': opsPort,
    'backup-to': backupTo,
    'audit-checkpoints-to': auditCheckpointsTo,
    'tls-cert': tlsCert,
    'tls-key': tlsKey,
    workers,
    'drain-seconds': activation === true ? String(drainSeconds) : undefined,
    config,
  }
  const words = Object.entries(flags).filter(([, value]) => value !== undefined)
  return `${binary} serve ${words.map(([flag, value]) => `--${flag} ${value}`).join(' ')}`
}

/** Folders that the service writes to. */
function writtenBy({ data, socket, backupTo }: UnitOptions): readonly string[] {
  const folder = socket === undefined ? undefined : dirname(socket)
  const made = /^\/run\/([\w.-]+)$/.exec(folder ?? '')?.[1]
  const others = made === undefined && folder !== undefined ? [folder] : []
  const backups = backupTo?.startsWith('/') === true ? [backupTo] : []
  return [
    `ReadWritePaths=${[data, ...others, ...backups].join(' ')}`,
    // systemd makes and removes it.
    ...(made === undefined ? [] : [`RuntimeDirectory=${made}`]),
  ]
}

/** A bucket is reached over the network; anything else is on this machine. */
const reached = ({ backupTo, auditCheckpointsTo }: UnitOptions): readonly string[] =>
  backupTo?.startsWith('s3:') === true || auditCheckpointsTo !== undefined
    ? []
    : ['IPAddressDeny=any', 'IPAddressAllow=localhost']

/** Listens for the service, and goes on while that is restarted. */
const socketUnitOf = ({ port }: UnitOptions): readonly string[] => [
  '[Unit]',
  'Description=Where Coffer listens',
  '',
  '[Socket]',
  `ListenStream=127.0.0.1:${port}`,
  'Backlog=4096',
  '',
  '[Install]',
  'WantedBy=sockets.target',
]

const unitOf = (options: UnitOptions): readonly string[] => [
  '[Unit]',
  'Description=Coffer, a tokenization vault',
  'After=network.target',
  // No limit on restarts: the obstacle may pass, such as a full disk.
  'StartLimitIntervalSec=0',
  ...(options.activation === true ? ['Requires=coffer.socket', 'After=coffer.socket'] : []),
  '',
  '[Service]',
  'Type=notify',
  'NotifyAccess=main',
  'WatchdogSec=60',
  // A large vault that was killed is checked first.
  'TimeoutStartSec=15min',
  'User=coffer',
  'Group=coffer',
  credentialLineOf(options),
  // For example COFFER_LOG_REQUESTS=errors; the file may be missing.
  'EnvironmentFile=-/etc/coffer/coffer.env',
  `ExecStart=${commandOf(options)}`,
  'ExecReload=/bin/kill -HUP $MAINPID',
  // If a disk fails the process ends by a signal, and must be started again.
  'Restart=on-failure',
  'RestartSec=1',
  // Time to drain, and to close the store.
  'TimeoutStopSec=30',
  'LimitCORE=0',
  'LimitMEMLOCK=64M',
  'LimitNOFILE=65536',
  ...writtenBy(options),
  ...hardening,
  ...reached(options),
  '',
  '[Install]',
  'WantedBy=multi-user.target',
]

/** The running program, which exists; from source, the place in `docs/operations.md`. */
const usualBinary = (): string => ownBinary() ?? '/usr/local/bin/coffer'

/** Options of a unit as they are typed: by default `binary` is this program. */
type AskedUnit = Omit<UnitOptions, 'binary'> & Partial<Pick<UnitOptions, 'binary'>>

/** @throws CommandFailure for a path that a unit cannot hold */
function printUnit(asked: AskedUnit): void {
  const options = { ...asked, binary: asked.binary ?? usualBinary() }
  assertPaths(options)
  for (const [flag, text] of [
    ['--port', options.port],
    ['--ops-port', options.opsPort ?? '0'],
    ['--workers', options.workers ?? '1'],
  ] as const) {
    if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
      throw usage(`${flag}: expected an integer from 0 to 65535`)
    }
  }
  if ((options.activation ?? options.socketUnit) === true && options.socket !== undefined) {
    throw usage('--activation: expected a port, and no --socket')
  }
  if (!/^[\w.-]{1,255}$/.test(options.masterKeyCredential ?? credentialName)) {
    const expected = 'expected a name of letters, digits and . _ -'
    throw usage(`--master-key-credential: ${expected}`)
  }
  sayNow(...(options.socketUnit === true ? socketUnitOf(options) : unitOf(options)))
}

/** Its options are texts for the unit: nothing here opens their paths. */
export function addSystemd(program: Command): void {
  program
    .command('systemd')
    .description('serve under systemd')
    .command('print')
    .description('print a unit that may do no more than it must; for the user coffer')
    .option('--binary <file>', 'where the binary is, where it is not this one')
    .option('--data <dir>', 'the data folder', '/var/lib/coffer')
    .option('--master-key-file <file>', 'where the master key is', '/etc/coffer/master.key')
    .option(
      '--master-key-credential <name>',
      'an encrypted credential that systemd-creds made of the master key, in its place',
    )
    .option('--port <port>', 'the port to listen on, on loopback', '3333')
    .option('--socket <file>', 'a Unix socket to listen on, in place of the port')
    .option('--ops-port <port>', 'where health and metrics are told, on loopback')
    .option('--backup-to <place>', 'a folder or a bucket for backups, every 6h')
    .option('--audit-checkpoints-to <place>', 'a bucket for checkpoints of the audit log')
    .option('--tls-cert <file>', 'the TLS certificate (PEM), which the user coffer may read')
    .option('--tls-key <file>', "its key (PEM), which is that user's alone")
    .option('--workers <number>', 'processes that serve together')
    .option('--config <file>', 'a JSON file with more settings')
    .option('--activation', 'listen on coffer.socket, so that no restart refuses a request')
    .option('--socket-unit', 'print coffer.socket instead, which listens on the port')
    .action((options: AskedUnit) => printUnit(options))
}
