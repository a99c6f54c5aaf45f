/**
 * State that the process watching over workers keeps. Source: src/cli/serve/serve-together.ts.
 * @module
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { readMasterKey } from '../../../../src/server/keys/master-key.ts'
import { lockAndCheck } from '../../../../src/cli/serve/serve-together.ts'
import { runCoffer } from '../../../support/coffer-process.ts'
import { temporaryFolder } from '../../../support/folders.ts'

test('a folder that was looked at for workers comes without its master key', async () => {
  const folder = temporaryFolder()
  const masterKeyFile = join(folder, 'master.key')
  const options = { data: join(folder, 'vault'), masterKeyFile }
  const { data } = options
  // Another process makes it: this one would keep the lock of a folder that it made.
  const made = await runCoffer(['init', '--data', data, '--master-key-file', masterKeyFile])
  expect(made.exitCode).toBe(0)
  const { masterKey } = await lockAndCheck(options)
  expect(masterKey).toEqual(new Uint8Array(32))
  expect(readMasterKey(masterKeyFile)).not.toEqual(new Uint8Array(32))
})
