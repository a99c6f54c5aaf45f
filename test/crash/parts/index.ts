/**
 * The parts of the crash campaign, by the names under which they are run.
 * @module
 */
import type { Part } from '../part.ts'
import { backUpUnderLoad } from './backups.ts'
import { rotBits } from './bit-rot.ts'
import { rotPagesOf } from './page-rot.ts'
import { churnRows } from './churn.ts'
import { copyDatabases } from './copies.ts'
import { jumpClocks } from './clock.ts'
import { fillDisk } from './disk-full.ts'
import { killDeliveries } from './deliveries.ts'
import { loadWithHostility } from './hostile-load.ts'
import { failDisk } from './io-faults.ts'
import { killServer } from './kill.ts'
import { limitMemory } from './memory.ts'
import { cutPower } from './power-cut.ts'
import { killReveals } from './reveals.ts'
import { rotateKeys } from './rotation.ts'
import { terminateServer } from './terminate.ts'
import { killWorkers } from './workers.ts'

export const parts: Readonly<Record<string, Part>> = {
  'bit-rot': rotBits,
  'bit-rot-unfolded': rotBits,
  'page-rot-2000': rotPagesOf(2_000, { full: 400, short: 8 }),
  'page-rot-18000': rotPagesOf(18_000, { full: 350, short: 4 }),
  'page-rot-300000': rotPagesOf(300_000, { full: 250, short: 0 }),
  copies: copyDatabases,
  backups: backUpUnderLoad,
  rotation: rotateKeys,
  kill: killServer,
  reveals: killReveals,
  deliveries: killDeliveries,
  terminate: terminateServer,
  workers: killWorkers,
  churn: churnRows,
  'power-cut': cutPower,
  'disk-full': fillDisk,
  'io-faults': failDisk,
  clock: jumpClocks,
  'hostile-load': loadWithHostility,
  memory: limitMemory,
}
