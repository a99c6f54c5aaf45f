/**
 * Throw-away vaults as `coffer dev` starts them: from source, or of the binary under test.
 * @module
 */
import { createClient, type Client } from '../../../src/client/index.ts'
import { atEnd } from '../../support/at-end.ts'
import { startCoffer } from '../../support/coffer-process.ts'

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
