/**
 * The end of a vault that is sealed, or whose process ends.
 * @module
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openDataFolder } from '../../../src/server/folder/data-folder.ts'
import { createDataFolder } from '../../../src/server/folder/make-folder.ts'
import { markOf } from '../../../src/server/process/clock-file.ts'
import { closeVault, openVault } from '../../../src/server/process/open-vault.ts'
import { defaultSettings } from '../../../src/settings/settings.ts'
import { temporaryFolder } from '../../support/folders.ts'

test('leaves no key where its store does not close either', async () => {
  const options = { data: join(temporaryFolder(), 'data') }
  await createDataFolder(options, () => {})
  const folder = await openDataFolder(options, { onFailure: () => {} })
  const close = async (): Promise<void> => {
    await folder.store.close()
    throw new Error('the disk is gone')
  }
  const opened = { ...folder, store: { ...folder.store, close } }
  const logging = { log: () => {}, observe: undefined, end: () => Promise.resolve() }
  const address = { host: '127.0.0.1', port: 0 }
  const serving = { processId: 0, address, settings: defaultSettings, logging }
  const vault = openVault(serving, { opened, mark: markOf(opened), startHoldMs: 0 })
  expect(opened.keys.logKey).toBeDefined()
  await expect(closeVault(vault)).rejects.toThrow('the disk is gone')
  expect(opened.keys.logKey).toBeUndefined()
})
