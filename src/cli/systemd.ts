/**
 * `coffer systemd print`: a unit that serves a data folder, with nothing that it does not need.
 *
 * The master key is a credential of the unit: systemd reads it as root and gives it to the process
 * in memory of its own, so that the user of the service cannot reach the file. What it is given a
 * program of that user may read, where it finds a way to the folder of the credential.
 * Source: systemd.exec(5); scored by `systemd-analyze security`.
 * @module
 */
import { isAbsolute } from 'node:path'
import { CommandFailure, usageExitCode } from '../serve/failure.ts'
import { sayNow } from '../serve/system.ts'

export interface UnitOptions {
  readonly binary: string
  readonly data: string
  readonly masterKeyFile: string
  readonly port: string
  /** The name of an encrypted credential, in the place of that file. */
  readonly masterKeyCredential?: string
}

const credentialName = 'coffer.master-key'

/** What the process may do is what it does: files of its folder, and sockets. */
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
  'IPAddressDeny=any',
  'IPAddressAllow=localhost',
  'UMask=0077',
]

/** No value of a unit may hold what begins another line or a specifier. */
const plainPath = /^\/[\w./-]+$/

function assertPaths(options: UnitOptions): void {
  const paths = [options.binary, options.data, options.masterKeyFile]
  if (paths.every(path => isAbsolute(path) && plainPath.test(path))) return
  const expected = 'expected absolute paths of letters, digits and . _ / -'
  throw new CommandFailure(`--binary, --data and --master-key-file: ${expected}`, usageExitCode)
}

/** Encrypted ones are found by name, where systemd keeps them (systemd.exec(5)). */
const credentialLineOf = ({ masterKeyFile, masterKeyCredential: name }: UnitOptions): string =>
  name === undefined
    ? `LoadCredential=${credentialName}:${masterKeyFile}`
    : `LoadCredentialEncrypted=${name}`

function commandOf({ binary, data, port, masterKeyCredential }: UnitOptions): string {
  const name = masterKeyCredential ?? credentialName
  return `${binary} serve --data ${data} --master-key-credential ${name} --port ${port}`
}

const unitOf = (options: UnitOptions): readonly string[] => [
  '[Unit]',
  'Description=Coffer, a tokenization vault',
  'After=network.target',
  '',
  '[Service]',
  'User=coffer',
  'Group=coffer',
  credentialLineOf(options),
  `ExecStart=${commandOf(options)}`,
  // It ends by a signal where a disk fails, and is to be started again.
  'Restart=on-failure',
  'RestartSec=1',
  // The end of a drain, and of the store.
  'TimeoutStopSec=30',
  'LimitCORE=0',
  'LimitMEMLOCK=64M',
  'LimitNOFILE=65536',
  `ReadWritePaths=${options.data}`,
  ...hardening,
  '',
  '[Install]',
  'WantedBy=multi-user.target',
]

/** @throws CommandFailure for a path that a unit cannot hold */
export function printUnit(options: UnitOptions): void {
  assertPaths(options)
  if (!/^\d{1,5}$/.test(options.port)) {
    throw new CommandFailure('--port: expected an integer from 0 to 65535', usageExitCode)
  }
  if (!/^[\w.-]{1,255}$/.test(options.masterKeyCredential ?? credentialName)) {
    const expected = 'expected a name of letters, digits and . _ -'
    throw new CommandFailure(`--master-key-credential: ${expected}`, usageExitCode)
  }
  sayNow(...unitOf(options))
}
