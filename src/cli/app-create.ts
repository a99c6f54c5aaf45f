/**
 * `coffer app create`: a new application, for scripts, and for who has lost the key of every
 * management application.
 *
 * The operator, who has folder and master key, may do this; the interface refuses to let the last
 * manager go, but cannot keep its key from being lost. Source: contract section 13.
 * @module
 */
import type { Facts } from '../vault/operator/operator-operation.ts'
import type { FolderOptions } from '../server/folder/data-folder.ts'
import { sayJson, sayNow } from '../server/process/system.ts'
import { appRequestOf, type AppRequestOptions } from './app-request.ts'
import { withKeyFile, type KeyFile } from './key-file.ts'
import { operate } from './operate.ts'

export type AppCreateOptions = FolderOptions &
  AppRequestOptions & {
    readonly keyFile?: string
    readonly json?: boolean
  }

const kinds: Readonly<Record<string, string>> = {
  management: 'Management',
  private: 'Private',
  public: 'Public',
}

/** In one piece with what is told of it: a key that is printed has its place in a file or here. */
function tell(options: AppCreateOptions, { key, ...facts }: Facts, keyFile?: KeyFile): void {
  const place = keyFile === undefined ? { key } : { key_file: keyFile.path }
  if (options.json === true) {
    return sayJson({ ...facts, ...(key === undefined ? {} : place) })
  }
  const id = String(facts['application_id'])
  if (key === undefined) return sayNow(`There is an application of that name: ${id}`)
  sayNow(`${kinds[options.type ?? 'management']} application: ${id}`)
  sayNow(
    keyFile === undefined
      ? `Its key, shown once:    ${String(key)}`
      : `Its key is in           ${keyFile.path}`,
  )
}

/** The key is told only once its application is on disk: what is told works. */
export async function createApp(options: AppCreateOptions): Promise<void> {
  const request = appRequestOf(options)
  await withKeyFile(options.keyFile, async keyFile => {
    const facts = await operate(options, 'app-create', request)
    if (facts['key'] === undefined) keyFile?.giveUp()
    else keyFile?.write(String(facts['key']))
    tell(options, facts, keyFile)
  })
}
