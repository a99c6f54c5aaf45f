/**
 * Three vaults over one database, each with a data folder of its own.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cofferCommand, runCoffer } from '../support/coffer-process.ts'
import { openConnection } from '../support/connection.ts'
import { databasePassword } from './cluster.ts'
import { hasEnded, signal, startProcess, type Owned } from './processes.ts'

const startMs = 60_000
const permissions = ['create', 'read', 'update', 'delete', 'search'].map(name => `token:${name}`)

export interface Vault {
  readonly socket: string
  readonly run: () => Owned
  owned: Owned
}

const databaseUrl = (port: number): string => `postgres://postgres@127.0.0.1:${port}/postgres`

export async function untilServed({ socket, owned }: Vault): Promise<void> {
  const deadline = performance.now() + startMs
  while (performance.now() < deadline) {
    if (hasEnded(owned)) throw new Error('a vault ended by itself at its start')
    const connection = await openConnection({ unix: socket }).catch(() => undefined)
    connection?.close()
    if (connection !== undefined) return
    await Bun.sleep(50)
  }
  throw new Error('a vault does not listen')
}

export function makeVault(
  folder: string,
  name: string,
  port: number,
  more: Readonly<Record<string, string>> = {},
): Vault {
  const socket = join(folder, `${name}.socket`)
  const served = ['serve', '--data', join(folder, name), '--store', databaseUrl(port)]
  const key = ['--master-key-file', join(folder, 'first', 'master.key')]
  const command = [...cofferCommand, ...served, ...key, '--socket', socket]
  const env = { COFFER_FOLD_ROWS: '20', BUN_TMPDIR: folder, ...passwordSetting(folder), ...more }
  const run = (): Owned => startProcess(command, join(folder, `${name}.log`), env)
  return { socket, run, owned: run() }
}

/** A file, as an operator has it. */
function passwordSetting(folder: string) {
  const file = join(folder, 'password')
  writeFileSync(file, databasePassword)
  return { COFFER_STORE_PASSWORD_FILE: file }
}

/** @returns the management key */
export async function initVault(folder: string, port: number): Promise<string> {
  const store = ['--store', databaseUrl(port)]
  const made = await runCoffer(['init', '--data', join(folder, 'first'), ...store, '--json'], {
    env: passwordSetting(folder),
  })
  if (made.exitCode !== 0) throw new Error(`init: ${made.stderr}`)
  return (JSON.parse(made.stdout) as { key: string }).key
}

export async function makeKey({ socket }: Vault, key: string): Promise<string> {
  const connection = await openConnection({ unix: socket })
  const rule = { priority: 1, container: '/', transform: 'reveal', permissions }
  const body = { name: 'load', type: 'private', rules: [rule] }
  const answer = await connection.ask('POST', '/applications', { key, body })
  connection.close()
  if (answer.status !== 201) throw new Error(`applications: ${answer.status}: ${answer.text}`)
  return (JSON.parse(answer.text) as { key: string }).key
}

/** @throws Error when it had ended by itself */
export async function killVault(vault: Vault): Promise<void> {
  if (hasEnded(vault.owned)) throw new Error('a vault had ended by itself')
  signal(vault.owned.pid, 'SIGKILL')
  await vault.owned.child.exited
  vault.owned = vault.run()
  await untilServed(vault)
}

export const verifyVault = (folder: string) =>
  runCoffer(['verify', '--data', join(folder, 'first')])
