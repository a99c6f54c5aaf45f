/**
 * A limit of the system on the size of files: each command that would write beyond it says so in
 * one line, and leaves the vault whole.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const slowMs = 120_000
const told =
  /^coffer: a file in \S.* would be larger than this process may write: raise that limit/m

/** Units of 1,024 bytes or of 512, by the shell. */
const limited = (blocks: number): readonly string[] => [
  'sh',
  '-c',
  `ulimit -f ${blocks} && exec "$@"`,
  'sh',
]

let folder = ''
let data = ''
let backup = ''
beforeAll(async () => {
  folder = temporaryFolder()
  data = join(folder, 'vault')
  backup = join(folder, 'whole.backup')
  expect((await runCoffer(['init', '--data', data])).exitCode).toBe(0)
  const made = await runCoffer(['backup', '--data', data, '--to', backup])
  expect(made).toMatchObject({ exitCode: 0 })
}, slowMs)

/** Starts a command under the limit; a crash of the engine would be an end by a signal. */
async function expectTold(words: readonly string[], blocks: number): Promise<void> {
  const ended = await runCoffer(words, { prefix: limited(blocks) })
  expect([words[0], ended.stderr]).toEqual([words[0], expect.stringMatching(told)])
  expect(ended.exitCode).toBe(1)
  const sound = await runCoffer(['verify', '--data', data])
  expect(sound).toMatchObject({ exitCode: 0 })
}

const key = (): readonly string[] => ['--master-key-file', join(data, 'master.key')]

test.each([16, 1_000])(
  'a limit of %p blocks ends no command by a crash',
  async blocks => {
    const made = join(folder, `made-${blocks}`)
    await expectTold(['init', '--data', made], blocks)
    await expectTold(['compact', '--data', data], blocks)
    await expectTold(['backup', '--data', data, '--to', join(folder, 'b')], blocks)
    await expectTold(['serve', '--data', data, '--port', '0'], blocks)
    expect(existsSync(join(made, 'format'))).toBe(false)
  },
  slowMs,
)

test(
  'a backup that is larger than the limit is not restored',
  async () => {
    const made = join(folder, 'restored')
    await expectTold(['restore', backup, '--data', made, '--keep-keys', ...key()], 16)
    expect(existsSync(made)).toBe(false)
  },
  slowMs,
)

test(
  'a limit that leaves room changes nothing',
  async () => {
    const words = ['compact', '--data', data]
    expect(await runCoffer(words, { prefix: limited(400_000) })).toMatchObject({ exitCode: 0 })
  },
  slowMs,
)
