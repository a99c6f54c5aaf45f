/**
 * `coffer init`: makes a data folder and prints the key of its first management application.
 *
 * The key exists in clear only in what is printed, so a vault whose key could not be printed is
 * not made.
 * @module
 */
import type { NewVault } from '../vault.ts'
import { createDataFolder, type FolderOptions } from '../serve/data-folder.ts'
import { CommandFailure } from '../serve/failure.ts'
import { sayNow } from '../serve/system.ts'

export interface InitOptions extends FolderOptions {
  readonly json?: boolean
}

function reportOf(options: InitOptions, { tenantId, applicationId, key }: NewVault): string {
  if (options.json === true) {
    const facts = { tenant_id: tenantId, application_id: applicationId, key: key.reveal() }
    return JSON.stringify(facts)
  }
  return [
    `The vault is in ${options.data}.`,
    `Tenant:                 ${tenantId}`,
    `Management application: ${applicationId}`,
    `Its key, shown once:    ${key.reveal()}`,
  ].join('\n')
}

export const init = (options: InitOptions): Promise<void> =>
  createDataFolder(options, made => {
    try {
      sayNow(reportOf(options, made))
    } catch {
      throw new CommandFailure('the key could not be printed, so no vault was made: mend stdout')
    }
  })
