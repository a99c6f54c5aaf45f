/**
 * Findings of `coffer doctor` that a server can have of itself as it starts. They name no path of
 * the machine, since callers read them.
 * @module
 */
import { existsSync, realpathSync } from 'node:fs'
import type { Config, TlsFiles } from '../../settings/config.ts'
import { keyBytes, primitives } from '../../crypto/primitives.ts'
import type { StatusFinding } from '../../status/schema.ts'
import { findCopies } from '../folder/copies.ts'
import { masterKeyFileOf, type FolderOptions } from '../folder/data-folder.ts'
import { passwordFileOf } from '../folder/folder-database.ts'
import { isKeyInEnvironment } from '../keys/key-source.ts'
import { beforeOf } from '../keys/next-master-key.ts'
import { readTls, troublesOf } from '../listen/tls-files.ts'
import { isProcessGuarded } from '../process/process-guard.ts'
import { wallMs } from '../process/system.ts'
import {
  weaknessesOf,
  weaknessesOfKey,
  weaknessesOfDatabase,
  weaknessesOfPassword,
} from '../process/weaknesses.ts'

const warning = (about: string, text: string): StatusFinding => ({ level: 'warning', about, text })

function isKeyBeforeThere(options: FolderOptions): boolean {
  const file = masterKeyFileOf(options)
  return file !== undefined && existsSync(file) && existsSync(beforeOf(realpathSync(file)))
}

const isTlsKeyWeak = (files: TlsFiles | undefined): boolean =>
  files !== undefined && troublesOf(readTls(files), wallMs()).includes('tls_key_weak')

function isMemoryLocked(): boolean {
  primitives.keep(new Uint8Array(keyBytes))
  return primitives.isLocked()
}

/** The file of the password is named by its flag alone. */
const passwordText = 'its file is of others or open to them: chown it, and chmod 600 it'

/** Each with its check, if it holds. */
const listOf = (
  options: FolderOptions,
  { tls }: Config,
  isInEnvironment: boolean,
): readonly (readonly [() => boolean, string, string])[] => [
  [
    () => isInEnvironment,
    'master key',
    'it came in the environment, which those who start or look after the process may see',
  ],
  [
    () => isKeyBeforeThere(options),
    'master key',
    'one of before lies beside it, which opens older backups: keep it with them',
  ],
  [
    () => weaknessesOfPassword(passwordFileOf(options.data)).length > 0,
    '--store-password-file',
    passwordText,
  ],
  [
    () => weaknessesOfDatabase(options).length > 0,
    '--store',
    'a program in the place of a database that is down is given its password: see sslmode',
  ],
  [() => isTlsKeyWeak(tls), '--tls-cert', 'its RSA key is short, and callers may refuse it'],
  [
    () => findCopies(options.data).length > 0,
    'copies',
    'other commands have left copies of the vault beside it: coffer doctor names them',
  ],
  [
    () => !isMemoryLocked(),
    'memory',
    'keys may be swapped to disk: raise LimitMEMLOCK (ulimit -l)',
  ],
  [
    () => !isProcessGuarded(),
    'process',
    'other processes of its user may read the memory of the server on this platform',
  ],
]

/** A check that cannot be made finds nothing: a start or `doctor` says why. */
function holds(check: () => boolean): boolean {
  try {
    return check()
  } catch {
    return false
  }
}

/**
 * Looks once the vault is served: before, its folder may be none.
 * @returns findings of the first look, at each call
 */
export function findInServing(
  options: FolderOptions,
  config: Config,
): () => readonly StatusFinding[] {
  // Later the key is taken out of the environment.
  const isInEnvironment = isKeyInEnvironment()
  const look = (): readonly StatusFinding[] => [
    ...listOf(options, config, isInEnvironment)
      .filter(([check]) => holds(check))
      .map(([, about, text]) => warning(about, text)),
    ...[...weaknessesOfKey(options), ...weaknessesOf(config.settings, config.address, config)].map(
      ({ about, text }) => warning(about, text),
    ),
  ]
  let found: readonly StatusFinding[] | undefined
  return () => (found ??= look())
}
