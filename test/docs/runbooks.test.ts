/**
 * `docs/runbooks.md`: the blocks of each section are run as they stand, on a vault that is served,
 * and have their effect afterwards. A stand-in for systemd starts and stops a real server.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { findPort } from '../support/free-port.ts'
import { blocksOf, makePath, readPage, runIn } from '../support/page.ts'

const page = readPage('docs/runbooks.md')
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map(text => [text.slice(0, text.indexOf('\n')), blocksOf(text, 'sh')] as const),
)
const sectionMsMax = 300_000

/** Starts and stops the server of the folder that it is called in, as systemd would. */
const systemctl = `#!/bin/sh
set -eu
stop() {
  if [ ! -e pid ]; then return 0; fi
  kill "$(cat pid)"
  while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.05; done
  rm pid
}
case "$1" in
  start)
    # That of the server before says that it listens, too.
    rm -f serve.log
    coffer serve --data vault --master-key-file master.key --port "$PORT" --log-requests all \\
      >serve.log 2>&1 &
    echo $! >pid
    until grep -qs listens serve.log; do kill -0 "$(cat pid)"; sleep 0.05; done
    ;;
  stop) stop ;;
esac
`

/** A vault that is not served, two tokens of two customers, keys, a backup and shares. */
let template: string
let application: string
let recipient: string

interface Machine {
  readonly folder: string
  readonly run: (command: string) => ReturnType<typeof runIn>
  readonly statusOf: (path: string, keyFile: string) => Promise<number>
}

/** A copy of the template, where the server runs while it is used. */
async function onMachine(use: (machine: Machine) => Promise<void>): Promise<void> {
  const folder = join(temporaryFolder(), 'machine')
  cpSync(template, folder, { recursive: true })
  const path = makePath(folder)
  writeFileSync(join(folder, 'bin', 'systemctl'), systemctl)
  chmodSync(join(folder, 'bin', 'systemctl'), 0o755)
  writeFileSync(join(folder, 'bin', 'journalctl'), '#!/bin/sh\nexec cat serve.log\n')
  chmodSync(join(folder, 'bin', 'journalctl'), 0o755)
  const port = findPort()
  const address = `http://127.0.0.1:${port}`
  const env = {
    PATH: path,
    TMPDIR: folder,
    COFFER_DATA: 'vault',
    COFFER_MASTER_KEY_FILE: 'master.key',
    COFFER_ADDR: address,
    PORT: String(port),
    app: application,
    leaked: readFileSync(join(folder, 'shop.key'), 'utf8'),
    customer: 'c-17',
    recipient,
  }
  const run = (command: string) => runIn(folder, ['sh', '-ec', command], env)
  const statusOf = async (target: string, keyFile: string) => {
    const headers = { 'SVC-API-KEY': readFileSync(join(folder, keyFile), 'utf8').trim() }
    return (await fetch(`${address}${target}`, { headers })).status
  }
  try {
    expect(await run('systemctl start coffer')).toMatchObject({ exitCode: 0, stderr: '' })
    await use({ folder, run, statusOf })
  } finally {
    await run('systemctl stop coffer')
  }
}

/** Progress of long work, which a busy machine prints. */
const progress = /^\d+ tokens so far\n/gm

/** Runs the blocks of a section; each ends well and complains of nothing. */
async function runSection(name: string, { run }: Machine): Promise<void> {
  const blocks = sections.get(name) ?? []
  expect(blocks.length).toBeGreaterThan(0)
  for (const block of blocks) {
    const { exitCode, stderr } = await run(block)
    expect([block, exitCode, stderr.replaceAll(progress, '')]).toEqual([block, 0, ''])
  }
}

async function mustRun(...words: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runCoffer(words)
  expect([words, exitCode, stderr]).toEqual([words, 0, ''])
  return stdout
}

async function makeTemplate(): Promise<void> {
  template = temporaryFolder()
  const at = (name: string): string => join(template, name)
  const vault = ['--data', at('vault'), '--master-key-file', at('master.key')]
  await mustRun('init', ...vault, '--key-file', at('management.key'))
  const permissions = ['token:create', 'token:read', 'token:search', 'token:delete']
  const rule = { priority: 1, container: '/', transform: 'reveal', permissions }
  writeFileSync(at('rules.json'), JSON.stringify([rule]))
  const shop = ['--name', 'Shop', '--type', 'private', '--rules', at('rules.json'), '--json']
  const told = await mustRun('app', 'create', ...vault, ...shop)
  const made = JSON.parse(told) as { readonly application_id: string; readonly key: string }
  application = made.application_id
  writeFileSync(at('shop.key'), made.key, { mode: 0o600 })
  mkdirSync(at('backups'), { mode: 0o700 })
  const shares = ['--shares', '5', '--threshold', '3', '--to-dir', at('shares')]
  await mustRun('keys', 'split', ...vault, ...shares)
}

beforeAll(async () => {
  await makeTemplate()
  recipient = await identityToRecipient(await generateX25519Identity())
  // The server makes it: tokens come from callers alone.
  await onMachine(async ({ folder, run }) => {
    for (const customer of ['c-17', 'c-18']) {
      const token = { id: customer, type: 'token', data: 'kept', metadata: { customer } }
      const made = await run(
        `echo '${JSON.stringify(token)}' | coffer token create --key-file shop.key`,
      )
      expect(made).toMatchObject({ exitCode: 0, stderr: '' })
    }
    const made = await run('coffer backup --to backups/coffer-$(date -u +%Y%m%dT%H%M%SZ).backup')
    expect(made).toMatchObject({ exitCode: 0, stderr: '' })
    await run('systemctl stop coffer')
    cpSync(join(folder, 'vault'), join(template, 'vault'), { recursive: true })
    cpSync(join(folder, 'backups'), join(template, 'backups'), { recursive: true })
  })
}, sectionMsMax)

const runbooks: Readonly<Record<string, (machine: Machine) => Promise<void>>> = {
  async 'An API key leaked'(machine) {
    await runSection('An API key leaked', machine)
    expect(await machine.statusOf('/tokens/c-17', 'shop.key')).toBe(401)
    expect(await machine.statusOf('/tokens/c-17', 'regenerated.key')).toBe(200)
    const requests = readFileSync(join(machine.folder, 'requests.log'), 'utf8')
    expect(requests).toContain('"operation":"getOwnApplication"')
    expect(requests).toContain('"client_address":"127.0.0.1"')
  },
  async 'The master key leaked'(machine) {
    await runSection('The master key leaked', machine)
    expect(await machine.statusOf('/tokens/c-17', 'shop.key')).toBe(200)
    const restore = 'coffer restore --latest backups --verify-only'
    expect((await machine.run(`${restore} --master-key-file leaked.key`)).exitCode).toBe(1)
    expect((await machine.run(restore)).exitCode).toBe(0)
  },
  async 'The master key is lost'(machine) {
    await machine.run('mv master.key away')
    await runSection('The master key is lost', machine)
    expect((await machine.run('cmp found.key away')).exitCode).toBe(0)
    expect(readFileSync(join(machine.folder, 'everything.age'), 'latin1')).toStartWith(
      'age-encryption.org/v1\n',
    )
    await machine.run('mv away master.key')
  },
  async 'The disk is damaged'(machine) {
    await runSection('The disk is damaged', machine)
    expect(await machine.statusOf('/tokens/c-17', 'shop.key')).toBe(200)
    expect(existsSync(join(machine.folder, 'damaged', 'store'))).toBe(true)
  },
  async 'The disk is full'(machine) {
    await machine.run('cp backups/*.backup backups/coffer-20200101T080000Z.backup')
    await runSection('The disk is full', machine)
    expect((await machine.run('ls backups/*.backup | wc -l')).stdout.trim()).toBe('1')
    expect(await machine.statusOf('/tokens/c-17', 'shop.key')).toBe(200)
  },
  async 'Restore on another machine'(machine) {
    await runSection('Restore on another machine', machine)
    const key = readFileSync(join(machine.folder, 'management.new'), 'utf8')
    expect(key).toStartWith('key_')
  },
  async 'Erase somebody by law'(machine) {
    await runSection('Erase somebody by law', machine)
    expect(await machine.statusOf('/tokens/c-17', 'shop.key')).toBe(404)
    expect(await machine.statusOf('/tokens/c-18', 'shop.key')).toBe(200)
    const receipt = readFileSync(join(machine.folder, 'erased.json'), 'utf8')
    expect(receipt).toContain('c-17')
    expect(receipt).not.toContain('kept')
  },
  async Upgrade(machine) {
    await runSection('Upgrade', machine)
    expect(await machine.statusOf('/tokens/c-17', 'shop.key')).toBe(200)
  },
}

describe('docs/runbooks.md', () => {
  test('has no section that is not run here', () => {
    expect([...sections.keys()]).toEqual(Object.keys(runbooks))
  })

  test.each(Object.entries(runbooks))(
    '%s',
    async (_, use) => {
      await onMachine(use)
    },
    sectionMsMax,
  )
})
