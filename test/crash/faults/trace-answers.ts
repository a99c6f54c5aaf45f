/**
 * Checks that answers tell the truth: runs a server under strace with slow syncs. Before each
 * answer to a write is sent, a sync and then a write of a meta page must have returned.
 * Source: hardening D11.
 * @module
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startCoffer } from '../../support/coffer-process.ts'
import { copyVaultFolder, openClient, serveArguments, type VaultFolder } from './vault-folder.ts'

const syncMs = 300
const traced = 'fdatasync,pwrite64,sendto,sendmsg,write,writev'
/** Size of LMDB's meta write; a page is larger, and is written before the sync. */
const metaBytes = 128
const traceMsMax = 10_000

export interface TraceOptions {
  /** Does not exist before, and is removed afterwards. */
  readonly folder: string
  readonly made: VaultFolder
}

export interface Traced {
  readonly answers: number
  readonly failures: readonly string[]
}

export type Seen = 'synced' | 'meta' | 'answer'

/** @returns the reason if nothing can be traced here */
export function findTracer(): { missing: string } | undefined {
  if (Bun.which('strace') === null) return { missing: 'strace is not installed' }
  const { exitCode } = Bun.spawnSync(['strace', '-o', '/dev/null', 'true'])
  return exitCode === 0 ? undefined : { missing: 'strace may not trace here' }
}

/**
 * Reads the events of a trace, in order. An interrupted call has two lines: an answer counts from
 * the first, a sync and a meta page from the second.
 */
export function readTrace(trace: string): Seen[] {
  return trace.split('\n').flatMap((line): Seen[] => {
    if (/ (?:sendto|sendmsg|write|writev)\(.*"HTTP\/1\.1 2/.test(line)) return ['answer']
    const isSync = / (?:fdatasync\(|<\.\.\. fdatasync resumed)/.test(line)
    if (isSync) return / = 0(?: \(DELAYED\))?$/.test(line) ? ['synced'] : []
    const isPlaced = / (?:pwrite64\(|<\.\.\. pwrite64 resumed)/.test(line)
    return isPlaced && line.endsWith(` = ${metaBytes}`) ? ['meta'] : []
  })
}

/** @returns the number of answers that left too early, of writes sent one after the other */
export function countEarly(seen: readonly Seen[]): number {
  let early = 0
  let reached: Seen | undefined
  for (const next of seen) {
    if (next === 'synced') reached = 'synced'
    else if (next === 'meta' && reached === 'synced') reached = 'meta'
    else if (next === 'answer') {
      if (reached !== 'meta') early += 1
      reached = undefined
    }
  }
  return early
}

const requests = [
  ['POST', '/tokens', { id: 'traced', type: 'token', data: 1 }],
  ['PATCH', '/tokens/traced', { data: 2 }],
  ['POST', '/tokens', { id: 'traced-too', type: 'token', data: 1 }],
  ['DELETE', '/tokens/traced', undefined],
] as const

interface Answered {
  readonly status: number
  readonly ms: number
}

async function writeSlowly({ key }: VaultFolder, socket: string): Promise<Answered[]> {
  const client = await openClient({ socket, key })
  const answers: Answered[] = []
  for (const [method, path, body] of requests) {
    const startedMs = performance.now()
    const { status } = await client.ask(method, path, body)
    answers.push({ status, ms: performance.now() - startedMs })
  }
  client.close()
  return answers
}

/** @returns the trace, once it contains the end of the process */
async function awaitTrace(file: string, pid: number): Promise<string> {
  const ended = new RegExp(`^${pid} +\\+\\+\\+ `, 'm')
  const read = () => (existsSync(file) ? readFileSync(file, 'utf8') : '')
  const fromMs = performance.now()
  while (!ended.test(read()) && performance.now() - fromMs < traceMsMax) await Bun.sleep(20)
  return read()
}

function judge(answers: readonly Answered[], seen: readonly Seen[]): string[] {
  const failures: string[] = []
  const left = seen.filter(one => one === 'answer').length
  if (left !== answers.length) failures.push(`${left} answers in the trace of ${answers.length}`)
  const early = countEarly(seen)
  if (early > 0) failures.push(`${early} answers left before their sync had returned`)
  for (const { status, ms } of answers) {
    if (status >= 300) failures.push(`a write is answered with ${status}`)
    if (ms < syncMs) failures.push(`an answer came within ${Math.round(ms)} ms, before any sync`)
  }
  return failures
}

export async function traceAnswers({ folder, made }: TraceOptions): Promise<Traced> {
  mkdirSync(folder)
  const [socket, file] = [join(folder, 'a.sock'), join(folder, 'trace')]
  const vault = copyVaultFolder(made, join(folder, 'data'))
  // With -D the started process is the server, and the tracer attaches to it.
  const prefix = ['strace', '-D', '-f', '-s', '32', '-o', file, '-e', `trace=${traced}`]
  prefix.push('-e', `inject=fdatasync:delay_enter=${syncMs * 1_000}`)
  const server = await startCoffer(serveArguments(vault.data, socket), { prefix })
  const answers = await writeSlowly(vault, socket)
  await server.end('SIGTERM')
  const seen = readTrace(await awaitTrace(file, server.pid))
  rmSync(folder, { recursive: true })
  const failures = judge(answers, seen).map(failure => `trace: ${failure}`)
  return { answers: answers.length, failures }
}
