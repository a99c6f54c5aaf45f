/**
 * `coffer init`: makes a data folder and prints the key of its first management application.
 *
 * @module
 */
import { createDataFolder, type FolderOptions } from './data-folder.ts'
import { say } from './system.ts'

export interface InitOptions extends FolderOptions {
  readonly json?: boolean
}

export async function init(options: InitOptions): Promise<void> {
  const { tenantId, applicationId, key } = await createDataFolder(options)
  if (options.json === true) {
    const facts = { tenant_id: tenantId, application_id: applicationId, key: key.reveal() }
    say(JSON.stringify(facts))
    return
  }
  say(`The vault is in ${options.data}.`)
  say(`Tenant:                 ${tenantId}`)
  say(`Management application: ${applicationId}`)
  say(`Its key, shown once:    ${key.reveal()}`)
}
