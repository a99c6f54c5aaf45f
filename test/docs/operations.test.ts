/**
 * `docs/operations.md`: each of its commands is run as it is written, one after the other.
 * @module
 */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { temporaryFolder } from '../support/folders.ts'
import { findPort } from '../support/free-port.ts'
import { makePath } from '../support/page.ts'

const text = readFileSync(resolve(import.meta.dir, '../../docs/operations.md'), 'utf8')
/** The ports of the page, in the place of which free ones are taken. */
const ports = ['9333', '9443']

const freePorts = ports.map(port => [port, findPort()] as const)
const blocks = [...text.matchAll(/```sh\n([^`]+)```/g)].map(([, block = '']) =>
  freePorts.reduce((words, [port, free]) => words.replaceAll(port, free), block.trim()),
)
/** Ends what hangs, and no machine that is busy. */
const blockMsMax = 300_000
const staying = 'coffer serve '

/** The server makes the first backup at once, by a process of the lowest priority. */
async function untilBackedUp(folder: string): Promise<void> {
  while (!readdirSync(folder).some(name => name.endsWith('.backup'))) await Bun.sleep(50)
}

test(
  'the commands of docs/operations.md do what they are for, as they stand',
  async () => {
    const cwd = temporaryFolder()
    const env = { PATH: makePath(cwd), TMPDIR: cwd }
    // It tries the port that `serve` would take, where another vault of this machine may listen.
    const doctorEnv = { ...env, COFFER_PORT: String(findPort()) }
    let server: Bun.Subprocess<'ignore', 'pipe', 'inherit'> | undefined
    expect(blocks.filter(block => block.startsWith(staying))).toHaveLength(1)
    try {
      for (const block of blocks) {
        if (block.startsWith(staying)) {
          const words = ['sh', '-c', `exec ${block}`]
          server = Bun.spawn(words, {
            cwd,
            env,
            stdin: 'ignore',
            stdout: 'pipe',
            stderr: 'inherit',
          })
          await server.stdout.getReader().read()
          await untilBackedUp(join(cwd, 'backups'))
          continue
        }
        const blockEnv = block.includes('coffer doctor') ? doctorEnv : env
        const words = ['sh', '-ec', block]
        const { exitCode, stdout, stderr } = Bun.spawnSync(words, { cwd, env: blockEnv })
        expect([block, exitCode, stderr.toString()]).toEqual([block, 0, ''])
        expect(stdout.length).toBeGreaterThan(0)
      }
    } finally {
      server?.kill('SIGTERM')
    }
    expect(await server?.exited).toBe(0)
  },
  blocks.length * blockMsMax,
)
