/**
 * Runs the compiled binary where a user would: in an empty folder, without node_modules, with an
 * environment that does not mention this checkout. Prints a line per step, then the counts.
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { version } from '../package.json' with { type: 'json' }
import { buildIdOf } from './build-id.ts'

const stepMsMax = 20_000

/** Shared by the steps: the binary, an empty folder to run it in, and the output of `init`. */
interface Run {
  readonly binary: string
  readonly root: string
  readonly folder: string
  readonly key: string
  /** Folder into which the binary unpacks its addons, new for this run. */
  readonly temporary: string
}

const start = (run: Run, args: readonly string[]) =>
  Bun.spawn([run.binary, ...args], {
    cwd: join(run.folder, 'empty'),
    env: { PATH: '/usr/bin:/bin', HOME: run.folder, BUN_TMPDIR: run.temporary },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: stepMsMax,
    killSignal: 'SIGKILL',
  })

async function runCommand(run: Run, args: readonly string[]): Promise<string> {
  const child = start(run, args)
  const texts = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  const [output, errors, exitCode] = texts
  if (exitCode !== 0) throw new Error(`${args[0]}: exit code ${exitCode}: ${errors.trim()}`)
  return output.trim()
}

function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${what}: expected ${expected}, got ${actual}`)
}

async function checkVersion(run: Run): Promise<void> {
  expectEqual('version', await runCommand(run, ['version']), `${version}+${buildIdOf(run.root)}`)
}

/** A path of this checkout in the binary would mean that it reads that file at run time. */
async function checkPaths(run: Run): Promise<void> {
  const bytes = Buffer.from(await Bun.file(run.binary).arrayBuffer())
  expectEqual('the path of this checkout in the binary', bytes.indexOf(run.root), -1)
}

/** If it cannot unpack its addons, it reports that in one line. */
async function checkTemporaryFolder(run: Run): Promise<void> {
  const child = start({ ...run, temporary: join(run.folder, 'absent') }, ['version'])
  const [errors, exitCode] = await Promise.all([child.stderr.text(), child.exited])
  expectEqual('exit code', exitCode, 1)
  expectEqual(
    'one line that says what to do',
    /^coffer: [^\n]*BUN_TMPDIR[^\n]*\n$/.test(errors),
    true,
  )
}

async function initVault(run: Run): Promise<string> {
  const data = join(run.folder, 'data')
  const printed: unknown = JSON.parse(await runCommand(run, ['init', '--data', data, '--json']))
  const key = (printed as { key?: unknown }).key
  if (typeof key !== 'string') throw new Error('init: printed no key')
  return key
}

async function requestOwnRecord(socket: string, headers: Record<string, string>): Promise<number> {
  const url = 'http://localhost/applications/key'
  const response = await fetch(url, { unix: socket, headers, signal: AbortSignal.timeout(5_000) })
  await response.body?.cancel()
  return response.status
}

async function serveAndStop(run: Run): Promise<void> {
  const socket = join(run.folder, 'socket')
  const child = start(run, ['serve', '--data', join(run.folder, 'data'), '--socket', socket])
  try {
    const reader = child.stdout.getReader()
    const { done } = await reader.read()
    if (done) throw new Error(`serve: not ready: ${(await child.stderr.text()).trim()}`)
    expectEqual('status', await requestOwnRecord(socket, { 'SVC-API-KEY': run.key }), 200)
    expectEqual('status without a key', await requestOwnRecord(socket, {}), 401)
    child.kill('SIGTERM')
    expectEqual('exit code after SIGTERM', await child.exited, 0)
  } finally {
    child.kill('SIGKILL')
  }
}

/** @returns true if the step passed; prints the result on stdout */
async function step(name: string, check: () => Promise<void>): Promise<boolean> {
  try {
    await check()
    console.log(`(pass) smoke: ${name}`)
    return true
  } catch (error) {
    console.log(`(fail) smoke: ${name}: ${error instanceof Error ? error.message : String(error)}`)
    return false
  }
}

async function runSteps(run: Run): Promise<boolean[]> {
  let key = ''
  return [
    await step('holds no path of this checkout', () => checkPaths(run)),
    await step('prints its version', () => checkVersion(run)),
    await step('says where it cannot unpack its addons', () => checkTemporaryFolder(run)),
    await step('makes a vault', async () => {
      key = await initVault(run)
    }),
    await step('serves one request and stops', () => serveAndStop({ ...run, key })),
  ]
}

/**
 * @param root  the checkout, which the binary must not know
 * @returns     true if every step passed; the last two lines on stdout are the counts
 */
export async function smokeRun(binary: string, root: string): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-smoke-'))
  mkdirSync(join(folder, 'empty'))
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary, { mode: 0o700 })
  try {
    const results = await runSteps({ binary, root, folder, key: '', temporary })
    const passed = results.filter(Boolean).length
    console.log(` ${passed} pass\n ${results.length - passed} fail`)
    return passed === results.length
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
