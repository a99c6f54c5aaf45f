/**
 * Reads a data folder after a fault, through a server on a disk that works again.
 *
 * @module
 */
import { join } from 'node:path'
import { startCoffer } from '../../support/coffer-process.ts'
import { breach, type State } from '../ledger.ts'
import { openClient, serveArguments, type Client, type VaultFolder } from './vault-folder.ts'

async function readState(client: Client, id: string): Promise<State> {
  const { status, text } = await client.ask('GET', `/tokens/${id}`)
  if (status !== 200 && status !== 404) throw new Error(`${id} is answered with ${status}`)
  return status === 404 ? undefined : (JSON.parse(text) as { data: number }).data
}

async function countTokens(client: Client): Promise<number> {
  const { text } = await client.ask('GET', '/tokens?size=1')
  return (JSON.parse(text) as { pagination: { total_items: number } }).pagination.total_items
}

async function compare({ ledger }: VaultFolder, client: Client): Promise<string[]> {
  const broken: string[] = []
  let present = 0
  for (const [id, entry] of ledger.entries) {
    const state = await readState(client, id)
    if (state !== undefined) present += 1
    const says = breach(entry, state)
    if (says !== undefined) broken.push(`${id}: ${says}`)
  }
  const total = await countTokens(client)
  if (total !== present) broken.push(`${total} tokens are listed, ${present} are known`)
  const { status } = await client.ask('POST', '/tokens', { type: 'token', data: 1 })
  if (status !== 201) broken.push(`a new token is answered with ${status}`)
  return broken
}

async function walkStore(data: string): Promise<string[]> {
  const script = join(import.meta.dir, 'walk-store.ts')
  const child = Bun.spawn([process.execPath, script, join(data, 'store')], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  const findings = stdout.split('\n').filter(line => line !== '')
  return (await child.exited) === 0 ? findings : [...findings, `the walk failed: ${stderr}`]
}

async function readThroughServer(vault: VaultFolder, socket: string): Promise<string[]> {
  const server = await startCoffer(serveArguments(vault.data, socket))
  const client = await openClient({ socket, key: vault.key })
  try {
    return await compare(vault, client)
  } finally {
    client.close()
    await server.end('SIGTERM')
  }
}

/** @returns each broken promise, and each inconsistency within the store */
export async function inspectFolder(vault: VaultFolder, socket: string): Promise<string[]> {
  const broken = await readThroughServer(vault, socket).catch(error => [String(error)])
  return [...broken, ...(await walkStore(vault.data))]
}
