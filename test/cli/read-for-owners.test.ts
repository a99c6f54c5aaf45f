/**
 * Secrets that the owner of a vault names to root's commands: they read what that user may read.
 */
import { expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { isRoot, openVaultsOfOthers, otherUser } from '../support/vaults-of-others.ts'

// Others may enter its folder, as those of a system.
const { fresh, copyOfVault, giveAway } = await openVaultsOfOthers(0o755)

// proves S7, E12.26
test.skipIf(!isRoot)(
  'a master key that the owner of the folder names is read if he may read it',
  async () => {
    const data = copyOfVault()
    const key = fresh('key')
    renameSync(join(data, 'master.key'), key)
    symlinkSync(key, join(data, 'master.key'))
    chownSync(data, otherUser, otherUser)
    const next = fresh('next')
    for (const command of ['verify', 'app list', `keys rekey --new-master-key-file ${next}`]) {
      const { exitCode, stderr } = await runCoffer([...command.split(' '), '--data', data])
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringContaining('may not read the master key'),
      ])
    }
    expect(existsSync(next)).toBe(false)
    const named = await runCoffer(['verify', '--data', data, '--master-key-file', key])
    expect(named.exitCode).toBe(0)
    chownSync(key, otherUser, otherUser)
    expect((await runCoffer(['verify', '--data', data])).exitCode).toBe(0)
  },
)

// proves S7, E12.26
test.skipIf(!isRoot)('nor is one beside it, as an interrupted rekey leaves it', async () => {
  const data = copyOfVault()
  const [key, own] = [fresh('key'), join(data, 'master.key')]
  renameSync(own, key)
  writeFileSync(own, `${'0'.repeat(64)}\n`, { mode: 0o600 })
  symlinkSync(key, `${own}.next`)
  giveAway(data)
  const { exitCode, stderr } = await runCoffer(['app', 'list', '--data', data])
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('may not read the master key')])
  expect(lstatSync(own).isSymbolicLink()).toBe(false)
})

/** Asks whoever connects for the password in clear, as a server of PostgreSQL may. */
function startAsker() {
  let told = ''
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: socket => void socket.write(Uint8Array.of(0x52, 0, 0, 0, 8, 0, 0, 0, 3)),
      data: (_, bytes) => void (told += bytes.toString('latin1')),
    },
  })
  return { server, told: () => told }
}

// proves S7, E12.26
test.skipIf(!isRoot)(
  'a password file that the owner of the folder names is read if he may read it',
  async () => {
    const data = copyOfVault()
    const file = fresh('password')
    const { server, told } = startAsker()
    const url = `postgres://coffer@127.0.0.1:${server.port}/coffer`
    writeFileSync(join(data, 'store', 'database'), JSON.stringify({ url, password_file: file }))
    giveAway(data)
    writeFileSync(file, 'planted-for-root', { mode: 0o600 })
    for (const command of ['verify', 'audit verify', 'doctor', 'app list']) {
      const { stdout, stderr } = await runCoffer([...command.split(' '), '--data', data])
      expect(told()).not.toContain('planted-for-root')
      expect(stdout + stderr).toContain('may not read the password file that it names')
    }
    chownSync(file, otherUser, otherUser)
    await runCoffer(['audit', 'verify', '--data', data])
    expect(told()).toContain('planted-for-root')
    server.stop(true)
  },
)

// proves S7, E12.26
test.skipIf(!isRoot)(
  'nor is a file that all may read, in a folder that the owner may not enter',
  async () => {
    const [password, key] = [copyOfVault(), copyOfVault()]
    const closed = fresh('closed')
    mkdirSync(join(closed, 'inner'), { recursive: true, mode: 0o755 })
    const file = join(closed, 'inner', 'file')
    const { server, told } = startAsker()
    const url = `postgres://coffer@127.0.0.1:${server.port}/coffer`
    writeFileSync(join(password, 'store', 'database'), JSON.stringify({ url, password_file: file }))
    writeFileSync(file, 'planted-for-root', { mode: 0o644 })
    giveAway(password)
    chmodSync(closed, 0o700)
    const asked = ['audit', 'verify', '--data', password]
    const refused = await runCoffer(asked)
    expect(told()).not.toContain('planted-for-root')
    expect(refused.stderr).toContain('may not read the password file that it names')
    chmodSync(closed, 0o711)
    await runCoffer(asked)
    expect(told()).toContain('planted-for-root')
    server.stop(true)

    const own = join(closed, 'inner', 'key')
    renameSync(join(key, 'master.key'), own)
    symlinkSync(own, join(key, 'master.key'))
    chownSync(own, otherUser, otherUser)
    chownSync(key, otherUser, otherUser)
    chmodSync(closed, 0o700)
    expect((await runCoffer(['verify', '--data', key])).stderr).toContain('may not read the master')
    chownSync(closed, otherUser, otherUser)
    expect((await runCoffer(['verify', '--data', key])).exitCode).toBe(0)
  },
)
