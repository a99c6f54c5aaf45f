/**
 * The image: its root file system as `scripts/image-root` makes it for the Dockerfile, mounted
 * read-only, and the program in it by chroot as the user that the Dockerfile names. Docker is not
 * needed; root and Linux are.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { temporaryFolder } from '../support/folders.ts'
import {
  imageCommand,
  instruction,
  makeImageRoot,
  makeVolumes,
  mayMount,
} from '../support/image.ts'
import type { Image } from '../support/image.ts'

const binary = process.env['COFFER_BINARY']
const project = resolve(import.meta.dir, '../..')

describe('the Dockerfile', () => {
  test('ships nothing but what scripts/image-root has made, to a user who is not root', () => {
    expect(instruction('FROM')).toEqual(['scratch'])
    expect(instruction('COPY')).toEqual(['--from=build /image /'])
    expect(instruction('USER')).toEqual(['65532:65532'])
    for (const name of ['RUN', 'ADD', 'HEALTHCHECK', 'EXPOSE', 'VOLUME']) {
      expect([name, instruction(name)]).toEqual([name, []])
    }
  })

  test('begins with an image that is named by its content', () => {
    const dockerfile = readFileSync(join(project, 'Dockerfile'), 'utf8')
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)
    expect(bases).toEqual([expect.stringMatching(/@sha256:[0-9a-f]{64}$/) as string, 'scratch'])
  })

  test('builds from what .dockerignore lets in, which is no data and no key', () => {
    const lines = readFileSync(join(project, '.dockerignore'), 'utf8').trim().split('\n')
    const rules = lines.filter(line => !line.startsWith('#'))
    expect(rules[0]).toBe('*')
    for (const rule of rules.slice(1)) {
      expect([rule, existsSync(join(project, rule.slice(1)))]).toEqual([rule, true])
    }
  })
})

interface Ended {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

describe.skipIf(binary === undefined || !mayMount)('the image', () => {
  let image: Image & { readonly volumes: ReturnType<typeof makeVolumes> }
  let init: Ended

  const start = (...args: string[]) =>
    Bun.spawn(imageCommand(image, args), { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })

  async function run(...args: string[]): Promise<Ended> {
    const child = start(...args)
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
    return { exitCode: await child.exited, stdout, stderr }
  }

  beforeAll(async () => {
    const folder = temporaryFolder()
    const root = join(folder, 'root')
    makeImageRoot(resolve(binary ?? ''), root)
    image = { root, volumes: makeVolumes(folder) }
    init = await run('init', '--json')
  })

  test('has no program but the binary, and no file that others may write', () => {
    const files = readdirSync(image.root, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
    const loose = files.filter(path => (statSync(path).mode & 0o022) !== 0)
    const programs = files
      .map(path => path.slice(image.root.length))
      .filter(path => /^\/(?:usr\/)?(?:local\/)?s?bin\//.test(path))
    expect([programs, loose]).toEqual([['/usr/local/bin/coffer'], []])
    const owners = new Set(files.map(path => statSync(path).uid))
    expect([...owners].toSorted()).toEqual([0, 65532])
  })

  test('makes a vault in its volumes, with the key in a volume of its own', () => {
    expect([init.exitCode, init.stderr]).toEqual([0, ''])
    expect(statSync(join(image.volumes['/key'], 'master.key')).uid).toBe(65532)
    expect(existsSync(join(image.volumes['/data'], 'master.key'))).toBe(false)
  })

  test('writes nowhere else', async () => {
    const { exitCode, stderr } = await run('backup', '--to', '/tmp/here.backup')
    expect([exitCode, readdirSync(join(image.root, 'tmp'))]).toEqual([1, []])
    expect(stderr).toMatch(/^coffer: [^\n]+\n$/)
  })

  test('serves: a token is made and read; the first process of a container ends well', async () => {
    const { key } = JSON.parse(init.stdout) as { readonly key: string }
    const child = start('serve', '--port', '0', '--ops-port', '0')
    const { value } = await child.stdout.getReader().read()
    const [ops, vault] = new TextDecoder().decode(value).match(/http:[^\s]+\d/g) ?? []
    const ask = async (path: string, by: string, body?: unknown) => {
      const headers = { 'SVC-API-KEY': by, 'content-type': 'application/json' }
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      const answer = await fetch(`${vault}${path}`, { headers, ...sent })
      return { status: answer.status, body: (await answer.json()) as Record<string, string> }
    }
    expect(await (await fetch(`${ops}/healthz`)).text()).toBe('alive\n')
    expect(await (await fetch(`${ops}/readyz`)).text()).toBe('ready\n')
    const permissions = ['token:create', 'token:read']
    const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
    const application = { name: 'in a container', type: 'private', permissions, rules }
    const { body: made } = await ask('/applications', key, application)
    const token = { id: 'order-1', type: 'token', data: 'kept' }
    expect((await ask('/tokens', made['key'] ?? '', token)).status).toBe(201)
    expect((await ask('/tokens/order-1', made['key'] ?? '')).body['data']).toBe('kept')
    expect((await ask('/tokens/order-1', 'key_wrong')).status).toBe(401)
    // `unshare` is told of no signal: what it has started is the first process in there.
    const below = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'latin1')
    process.kill(Number(below.trim()), 'SIGTERM')
    expect(await child.exited).toBe(0)
  })
})
