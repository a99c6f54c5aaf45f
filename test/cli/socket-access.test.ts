/**
 * Users that may speak to the Unix socket of a server.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { groupIdOf } from '../../src/server/folder/groups.ts'
import { runCoffer, startCoffer, withoutWarnings } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

let root: string
let data: string
/** Folder in which others may reach a socket. */
let open: string

beforeAll(async () => {
  root = temporaryFolder()
  data = join(root, 'vault')
  open = join(root, 'open')
  mkdirSync(open)
  for (const folder of [root, open]) chmodSync(folder, 0o755)
  await runCoffer(['init', '--data', data])
})

const isRoot = process.getuid?.() === 0
const nobody = 65_534

/** Returns the status that another user gets, with that group and no other. */
async function statusAs(group: number, socket: string): Promise<string> {
  const who = ['setpriv', `--reuid=${nobody}`, `--regid=${group}`, '--clear-groups']
  const ask = ['curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', '--unix-socket', socket]
  const child = Bun.spawn([...who, ...ask, 'http://localhost/tokens'], { stdout: 'pipe' })
  return child.stdout.text()
}

// Only root may give a file to a group that it is not of, and become somebody else.
describe.skipIf(!isRoot)('a socket', () => {
  test.each([
    ['its owner alone', [], '000', '000'],
    ['a group, by its number', ['--socket-mode', '660', '--socket-group', '12345'], '401', '000'],
    ['everybody', ['--socket-mode', '666'], '401', '401'],
  ])('is for %s', async (_, words, ofGroup, ofNone) => {
    const socket = join(open, 'vault.sock')
    const server = await startCoffer(['serve', '--data', data, '--socket', socket, ...words])
    expect([await statusAs(12_345, socket), await statusAs(nobody, socket)]).toEqual([
      ofGroup,
      ofNone,
    ])
    expect(await server.end('SIGTERM')).toBe(0)
    const isEverybody = words.includes('666')
    expect((await server.stderr).includes('every user of the machine')).toBe(isEverybody)
    if (!isEverybody) expect(withoutWarnings(await server.stderr)).toBe('')
  })

  test('is of a group by its name', async () => {
    const socket = join(open, 'named.sock')
    const words = ['--socket-mode', '660', '--socket-group', 'nogroup']
    const server = await startCoffer(['serve', '--data', data, '--socket', socket, ...words])
    const { mode, gid } = statSync(socket)
    expect([(mode & 0o777).toString(8), gid]).toEqual(['660', groupIdOf('nogroup')])
    await server.end('SIGTERM')
  })

  test('that cannot be given away is none, and says so', async () => {
    const mine = join(root, 'of-nobody')
    await runCoffer(['init', '--data', mine])
    const folder = join(root, 'sockets-of-nobody')
    mkdirSync(folder)
    const chown = Bun.spawn(['chown', '-R', `${nobody}:${nobody}`, mine, folder])
    await chown.exited
    const socket = join(folder, 'vault.sock')
    const words = ['--socket', socket, '--socket-group', '0', '--socket-mode', '660']
    const prefix = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups']
    const ended = await runCoffer(['serve', '--data', mine, ...words], { prefix })
    expect([ended.exitCode, withoutWarnings(ended.stderr)]).toEqual([
      1,
      'coffer: the socket cannot be given to that group: be one of it, or root\n',
    ])
    expect(existsSync(socket)).toBe(false)
  })
})

describe('it is refused, in one line', () => {
  test.each([
    [2, ['--socket-mode', '660', '--port', '0'], 'expected with a --socket'],
    [2, ['--socket', 's', '--socket-mode', '777'], 'expected one of 600, 660 and 666'],
    [2, ['--socket', 's', '--socket-group', '../x'], 'the name or the number of a group'],
    [1, ['--socket', 's', '--socket-group', 'no-such-group'], 'name another, or its number'],
  ])('with %d for %p', async (exitCode, words, says) => {
    const ended = await runCoffer(['serve', '--data', data, ...words])
    expect([ended.exitCode, ended.stdout]).toEqual([exitCode, ''])
    expect(withoutWarnings(ended.stderr)).toMatch(/^coffer: [^\n]+\n$/)
    expect(ended.stderr).toContain(says)
  })

  test('by the doctor, too', async () => {
    const words = ['--socket', join(root, 's'), '--socket-group', 'no-such-group']
    const { exitCode, stdout } = await runCoffer(['doctor', '--data', data, ...words])
    expect([exitCode, stdout.includes('there is no group of that name')]).toEqual([1, true])
  })
})
