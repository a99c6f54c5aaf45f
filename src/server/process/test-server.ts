/**
 * A vault for one test: on a free loopback port, with a clock that the test moves, and with nothing
 * left once its process ends.
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
  /** Settings that differ from the defaults. */
  readonly settings: Partial<Settings>
  /** Start time of its clock, in Unix milliseconds; if absent, that of the machine. */
  readonly startAtMs: number | undefined
  /** Milliseconds by which the clock was moved since: called at each reading. */
  readonly movedMs: () => number
  readonly log: Log
}

export interface RunningTestVault {
  readonly address: string
  readonly demo: DemoVault
  readonly clock: Clock
  /** Lead of its clock over the machine's at the start, in milliseconds. */
  readonly leadMs: number
  readonly stop: () => Promise<void>
}

/** More than any reserve. */
const bytesFree = Number.MAX_SAFE_INTEGER

/** Unlinks its files right after opening them: they vanish with the process, however it ends. */
async function openNameless(parts: Omit<DemoParts, 'allocate' | 'freeBytes'>): Promise<DemoVault> {
  const path = mkdtempSync(join(tmpdir(), 'coffer-testing-'))
  try {
    // The file system can no longer be asked by path; a full disk only fails the test.
    return await makeDemoVault(path, {
      ...parts,
      allocate: () => false,
      freeBytes: () => bytesFree,
    })
  } finally {
    rmSync(path, { recursive: true })
  }
}

/** @throws CommandFailure if no port is available */
export async function startTestVault(parts: TestVaultParts): Promise<RunningTestVault> {
  const { startAtMs, movedMs, log } = parts
  const leadMs = startAtMs === undefined ? 0 : startAtMs - wallMs()
  const given = { ...defaultSettings, ...parts.settings }
  // Trimmed as the command line does.
  const settings = { ...given, basePath: given.basePath.replace(/\/$/, '') }
  // Both clocks jump: to the vault, time has passed, and its wall clock was not changed.
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

/** Returns its keys, as texts. */
export const shownKeys = (demo: DemoVault) => ({
  management: demo.management.reveal(),
  private: demo.private.reveal(),
  public: demo.public.reveal(),
})
