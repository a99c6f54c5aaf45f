/**
 * A file that has taken the place of a socket keeps its mode and its group.
 * @module
 */
import { expect, test } from 'bun:test'
import { lstatSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { shareSocket } from '../../../src/server/listen/shared-socket.ts'
import { temporaryFolder } from '../../support/folders.ts'

// proves E12.29
test.each([
  ['a link to a file of others', (path: string) => symlinkSync(`${path}.target`, path)],
  ['a file', (path: string) => writeFileSync(path, '', { mode: 0o600 })],
])('%s is not shared', (_, put) => {
  const path = join(temporaryFolder(), 'vault.sock')
  writeFileSync(`${path}.target`, '', { mode: 0o600 })
  put(path)
  expect(() => shareSocket(path, { mode: 0o666, groupId: undefined })).toThrow('was replaced')
  expect([statSync(path).mode & 0o777, statSync(`${path}.target`).mode & 0o777]).toEqual([
    0o600, 0o600,
  ])
})

test('a socket is', async () => {
  const path = join(temporaryFolder(), 'vault.sock')
  const server = createServer()
  await new Promise<void>(resolve => server.listen(path, resolve))
  shareSocket(path, { mode: 0o660, groupId: process.getgid?.() })
  expect(lstatSync(path).mode & 0o777).toBe(0o660)
  await new Promise(resolve => server.close(resolve))
})
