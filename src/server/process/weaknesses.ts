/**
 * Choices of an operator that weaken the vault: reported at each start, and by `coffer doctor`.
 * @module
 */
import { isLoopback } from '../../lib/ip.ts'
import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Address, Config } from '../../settings/config.ts'
import type { Log } from '../../deps.ts'
import { defaultSettings, type Settings } from '../../settings/settings.ts'
import type { FolderOptions } from '../folder/data-folder.ts'
import { isInDatabase, passwordFileOf, readDatabase } from '../folder/folder-database.ts'
import { isSourceGiven } from '../keys/key-source.ts'
import { isSecretOpen } from '../keys/secret-access.ts'
import type { DatabaseAddress } from '../../store/postgres/address.ts'

export interface Weakness {
  /** The flag, or the subject. */
  readonly about: string
  readonly text: string
  /** True if it is the default: a start does not report it. */
  readonly isDefault: boolean
}

type Listeners = Pick<Config, 'ops' | 'tls'>

const ofAddress = (address: Address, { tls }: Listeners): string | false =>
  'host' in address &&
  !isLoopback(address.host) &&
  tls === undefined &&
  'keys and data cross the network in the clear: see --tls-cert, or put a proxy in front'

/** Mode of a socket that everybody may write to. */
const everybody = 0o666

const ofSocket = (address: Address): string | false =>
  'socket' in address &&
  address.mode === everybody &&
  'every user of the machine may speak to the socket'

const ofOps = ({ ops }: Listeners): string | false =>
  ops !== undefined &&
  !isLoopback(ops.host) &&
  'every caller who reaches --ops-host is told how much the vault does and holds, with no key'

/** Prefix bits of the widest private networks: 10.0.0.0/8 and fc00::/7. */
const ownNetworkBits = { four: 8, six: 7 }

const isWide = (network: string): boolean => {
  const [address = '', bits] = network.split('/')
  const { four, six } = ownNetworkBits
  return bits !== undefined && Number(bits) < (address.includes(':') ? six : four)
}

/** Weaknesses of these settings: the flag, true if it applies, and the text. */
const listOf = (settings: Settings): readonly (readonly [string, boolean, string])[] => [
  [
    '--cors-origins',
    settings.corsOrigins.includes('*'),
    'pages of any origin may call, also with private keys: name those that may',
  ],
  [
    '--card-number-guard',
    !settings.cardNumberGuard,
    'card numbers are taken in metadata and containers, in the clear',
  ],
  [
    '--cvc-lifetime',
    settings.cvcLifetime === 'never',
    'security codes of cards are kept for good, which PCI DSS 3.3.1 forbids after authorization',
  ],
  ['--mask-guard', !settings.maskGuard, 'a mask may show a whole card number'],
  [
    '--strict-masks',
    !settings.strictMasks,
    'who sees a token masked may change how it is masked: strict masks are off',
  ],
  [
    '--tenant-wide-deduplication',
    settings.tenantWideDeduplication,
    'a caller who may create tokens is told of equal ones out of its reach, by deduplication',
  ],
  [
    '--session-grants-within-authorizer',
    !settings.sessionGrantsWithinAuthorizer,
    'a session may be granted more than its authorizer has',
  ],
  [
    '--search-guesses-per-minute-max, --create-guesses-per-minute-max, ' +
      '--lookup-guesses-per-minute-max, --chosen-ids-per-minute-max',
    [
      settings.searchGuessesPerMinuteMax,
      settings.createGuessesPerMinuteMax,
      settings.lookupGuessesPerMinuteMax,
      settings.chosenIdsPerMinuteMax,
    ].includes(0),
    'a caller who does not see data may guess at it without end',
  ],
  [
    '--trusted-proxies',
    settings.trustedProxies.some(isWide),
    'a caller in so wide a network chooses by which address it is counted and logged: name proxies',
  ],
  [
    '--requests-per-second-max',
    settings.requestsPerSecondMax === undefined,
    'no credential is limited in its requests',
  ],
]

export function weaknessesOf(
  settings: Settings,
  address: Address,
  listeners: Listeners = {},
): Weakness[] {
  const byDefault = new Set(listOf(defaultSettings).flatMap(([about, isSo]) => (isSo ? about : [])))
  const found = listOf(settings)
    .filter(([, isSo]) => isSo)
    .map(([about, , text]) => ({ about, text, isDefault: byDefault.has(about) }))
  const addresses = [
    ['--host', ofAddress(address, listeners)],
    ['--socket-mode', ofSocket(address)],
    ['--ops-host', ofOps(listeners)],
  ] as const
  for (const [about, text] of addresses) {
    if (text !== false) found.push({ about, text, isDefault: false })
  }
  return found
}

const besideData =
  'the master key lies beside the data, so a copy of the folder opens: see --master-key-file'

/** Weaknesses of the place of the master key. */
export const weaknessesOfKey = (options: FolderOptions): Weakness[] =>
  !isSourceGiven(options) && existsSync(join(options.data, 'master.key'))
    ? [
        {
          about: 'master key',
          text: besideData,
          isDefault: false,
        },
      ]
    : []

/**
 * Weaknesses of the file with a database password.
 * @param path absent if there is none
 * @param user the user who serves it
 */
export function weaknessesOfPassword(path: string | undefined, user?: number): Weakness[] {
  if (path === undefined) return []
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined || !isSecretOpen(stats, path, user)) return []
  const text = `${path} is of others or open to them: chown it, and chmod 600 it`
  return [{ about: '--store-password-file', text, isDefault: false }]
}

const impostor =
  'any user of the machine may answer in the place of a database that is down, and is given its ' +
  'password: see host= for a socket in a folder of its own, or sslmode=verify-full'

const writableByAll = 0o002

/** The client sends a password in clear to a server that asks so, unless TLS proves the server. */
export function weaknessesOfConnection({ password, tls, path }: DatabaseAddress): Weakness[] {
  if (password === undefined || tls !== undefined) return []
  const folder = path === undefined ? undefined : statSync(dirname(path), { throwIfNoEntry: false })
  const isOpen = path === undefined || ((folder?.mode ?? 0) & writableByAll) !== 0
  return isOpen ? [{ about: '--store', text: impostor, isDefault: false }] : []
}

/** Weaknesses of how a folder reaches its database; none without one. @throws CommandFailure */
export const weaknessesOfDatabase = ({ data, storePasswordFile }: FolderOptions): Weakness[] =>
  isInDatabase(data) ? weaknessesOfConnection(readDatabase(data, storePasswordFile)) : []

/** Logs the weaknesses that somebody has chosen, one line each. */
export function logWeaknesses(log: Log, options: FolderOptions, config: Config): void {
  const { settings, address } = config
  for (const { about, text, isDefault } of [
    ...weaknessesOfKey(options),
    ...weaknessesOfPassword(passwordFileOf(options.data)),
    ...weaknessesOfDatabase(options),
    ...weaknessesOf(settings, address, config),
  ]) {
    if (!isDefault) log('unsafe', { about, text })
  }
}
