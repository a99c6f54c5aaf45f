/**
 * A vault for one test: on a free port of loopback, with a clock that its test moves, and nothing
 * left of it when its process ends.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Log } from '../../deps.ts'
import { defaultSettings, type Settings } from '../../settings/settings.ts'
import { makeClock, noMark, type Clock } from './clock.ts'
import { makeDemoVault, type DemoParts, type DemoVault } from './demo-vault.ts'
import { startServer } from './server.ts'
import { elapsedMs, wallMs } from './system.ts'

export interface TestVaultParts {
  /** Others than those that a vault has by itself. */
  readonly settings: Partial<Settings>
  /** What its clock says when it starts, in Unix milliseconds; the machine's where it is none. */
  readonly startAtMs: number | undefined
  /** By how much it has been moved since, in milliseconds: asked each time that it is read. */
  readonly movedMs: () => number
  readonly log: Log
}

export interface RunningTestVault {
  readonly address: string
  readonly demo: DemoVault
  readonly clock: Clock
  /** How far its clock is ahead of the machine's by its start, in milliseconds. */
  readonly leadMs: number
  readonly stop: () => Promise<void>
}

/** More than any reserve. */
const bytesFree = Number.MAX_SAFE_INTEGER

/**
 * Its files have no name any more when it begins: they go with the process, however that ends.
 */
async function openNameless(parts: Omit<DemoParts, 'allocate' | 'freeBytes'>): Promise<DemoVault> {
  const path = mkdtempSync(join(tmpdir(), 'coffer-testing-'))
  try {
    // Nothing can ask the file system any more; what fills the disk of a test is no loss.
    return await makeDemoVault(path, {
      ...parts,
      allocate: () => false,
      freeBytes: () => bytesFree,
    })
  } finally {
    rmSync(path, { recursive: true })
  }
}

/** @throws CommandFailure when no port can be had */
export async function startTestVault(parts: TestVaultParts): Promise<RunningTestVault> {
  const { startAtMs, movedMs, log } = parts
  const leadMs = startAtMs === undefined ? 0 : startAtMs - wallMs()
  const given = { ...defaultSettings, ...parts.settings }
  // As the command line reads it.
  const settings = { ...given, basePath: given.basePath.replace(/\/$/, '') }
  // Both of its hands jump: to the vault more time has passed, and its clock was not set.
  const moved = {
    wall: () => Math.trunc(wallMs() + leadMs + movedMs()),
    elapsedMs: () => elapsedMs() + movedMs(),
  }
  const clock = makeClock({ ...moved, mark: noMark, startHoldMs: 0, log })
  const demo = await openNameless({ settings, clock, elapsedMs: moved.elapsedMs, log })
  const server = await startServer(demo.deps, { host: '127.0.0.1', port: 0 })
  return {
    address: server.address + settings.basePath,
    demo,
    clock,
    leadMs,
    async stop() {
      await server.stop()
      demo.deps.keys.wipe()
    },
  }
}

/** Its keys, as texts. */
export const shownKeys = (demo: DemoVault) => ({
  management: demo.management.reveal(),
  private: demo.private.reveal(),
  public: demo.public.reveal(),
})
