/**
 * Throw-away vaults as `coffer dev` starts them: from source, or of the binary under test.
 * @module
 */
import { join } from 'node:path'
import { createClient, type Client } from '../../../src/client/index.ts'
import { atEnd } from '../../support/at-end.ts'
import { runCoffer, startCoffer } from '../../support/coffer-process.ts'
import { temporaryFolder } from '../../support/folders.ts'

export interface DevVault {
  /** Such as `http://127.0.0.1:41234`, with the base path. */
  readonly address: string
  readonly publicKey: string
  readonly privateKey: string
  readonly managementKey: string
  /** Client with the key that reveals. */
  readonly backend: Client
  readonly stop: () => Promise<unknown>
}

/** @param flags as of `coffer serve`, such as `--cors-origins` */
export async function openVault(...flags: readonly string[]): Promise<DevVault> {
  const vault = await startCoffer(['dev', '--port', '0', '--json', ...flags])
  atEnd(() => vault.end('SIGTERM'))
  const made = JSON.parse(vault.ready) as Readonly<Record<string, string>>
  const { base_url: address = '', private_key: privateKey = '' } = made
  return {
    address,
    publicKey: made['public_key'] ?? '',
    privateKey,
    managementKey: made['management_key'] ?? '',
    backend: createClient({ address, key: privateKey }),
    stop: () => vault.end('SIGTERM'),
  }
}

/** A vault in a folder, as `coffer serve` serves it: its log is signed, and nobody reveals. */
export async function openSignedVault(): Promise<DevVault> {
  const data = join(temporaryFolder(), 'v')
  const { stdout } = await runCoffer(['init', '--data', data, '--json'])
  const { key: managementKey } = JSON.parse(stdout) as { readonly key: string }
  const vault = await startCoffer(['serve', '--data', data, '--port', '0'])
  atEnd(() => vault.end('SIGTERM'))
  const address = /http:\S+/.exec(vault.ready)?.[0] ?? ''
  const { applications } = createClient({ address, key: managementKey })
  const [{ key: privateKey }, { key: publicKey }] = await Promise.all([
    applications.create({
      name: 'Backend',
      type: 'private',
      permissions: ['token:create', 'token:read'],
    }),
    applications.create({ name: 'Page', type: 'public', permissions: ['token:create'] }),
  ])
  return {
    address,
    publicKey,
    privateKey,
    managementKey,
    backend: createClient({ address, key: privateKey }),
    stop: () => vault.end('SIGTERM'),
  }
}
