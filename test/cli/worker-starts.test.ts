/**
 * Failed starts of `coffer serve --workers`: another program on the port or the folder is left
 * alone. Contract section 13; docs/decisions.md, "Beyond one machine".
 * @module
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { closeSync, cpSync, existsSync, openSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { defaultSettings } from '../../src/settings/settings.ts'
import { cofferCommand, runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { until } from '../support/until.ts'

// Each starts several processes, on machines that may be slow.
setDefaultTimeout(300_000)

/** All are ended, even if their test failed. */
const started: Running[] = []
afterAll(async () => {
  await Promise.all(started.map(server => server.end('SIGKILL')))
})

let root: string
beforeAll(async () => {
  root = temporaryFolder()
  await runCoffer(['init', '--data', join(root, 'made')])
})

function copyFolder(name: string): string {
  const data = join(root, name)
  cpSync(join(root, 'made'), data, { recursive: true })
  return data
}

const optionsFor = (data: string, port: string) => [
  'serve',
  '--data',
  data,
  '--port',
  port,
  '--workers',
  '2',
]

describe('a start is refused', () => {
  test('of two instances that begin at once on one port, one has it', async () => {
    const probe = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
    const port = String(probe.port)
    await probe.stop(true)
    const starts = [0, 1].map(async index => {
      const data = copyFolder(`at-once-${index}`)
      await Bun.sleep(index * 50)
      const server = await startCoffer(optionsFor(data, port))
      started.push(server)
      return server
    })
    const ends = await Promise.allSettled(starts)
    const [refused] = ends.filter(end => end.status === 'rejected')
    expect(ends.filter(end => end.status === 'fulfilled')).toHaveLength(1)
    expect(String(refused?.reason)).toContain(`coffer: port ${port} is in use`)
  })

  test('a worker on a folder whose lock it was not handed', async () => {
    const data = copyFolder('unhanded')
    const server = await startCoffer(optionsFor(data, '0'))
    started.push(server)
    const folders = [data, join(root, 'made')]
    const order = {
      parent: process.pid,
      folder: { data },
      address: { host: '127.0.0.1', port: 0 },
      settings: defaultSettings,
      workers: 2,
    }
    for (const folder of folders) {
      const own = openSync(join(folder, 'lock'), 'a')
      for (const file of ['ignore', own] as const) {
        const child = Bun.spawn([...cofferCommand, 'worker', '1'], {
          stdio: [Buffer.from(JSON.stringify(order)), 'pipe', 'pipe', file],
        })
        // One that does listen says so, and stays.
        await Promise.race([child.exited, child.stdout.getReader().read()])
        child.kill('SIGKILL')
        expect(await child.exited).toBe(2)
        expect(await new Response(child.stderr).text()).toContain('nobody else does')
      }
      closeSync(own)
    }
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('with workers that end before they listen, again and again: 1 and a line', async () => {
    const data = copyFolder('unstartable')
    const ended = runCoffer(optionsFor(data, '0'))
    // A worker makes this file as it begins, after the checks of the key.
    await until(() => existsSync(join(data, 'clock')))
    renameSync(join(data, 'master.key'), join(data, 'elsewhere'))
    const { exitCode, stdout, stderr } = await ended
    expect([exitCode, stdout]).toEqual([1, ''])
    const last = stderr.trim().split('\n').at(-1)
    expect(last).toBe('coffer: a worker ends before it listens, again and again: stopped')
  })
})
