/**
 * Seals and unseals workers together, in the process that leads them.
 *
 * It keeps the keyring key, derived from the master key, in locked memory for workers started
 * later; it keeps neither the master key nor its shares. A worker that has not followed in time is
 * killed: its replacement starts in the current state.
 * Source: docs/decisions.md, "Keys".
 * @module
 */
import type { Log } from '../../deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { workerReadyMsMax, workerStopMsMax } from '../../limits/operation-limits.ts'
import { afterTurning } from '../../lib/turning-time.ts'
import type { ControlOperation } from '../listen/control.ts'
import { CommandFailure } from './failure.ts'
import { makeSealing, type SealSwitch } from '../keys/sealing.ts'
import type { WorkerProcess } from './worker-process.ts'

/** Source of the workers' key: `own` if each reads it itself. */
export type Standing =
  | 'own'
  | {
      readonly keyringKey: Uint8Array
      /** The mark of the clock from before the vault was unsealed. */
      readonly mark?: string
    }

export interface LedParts {
  /** @param standing `undefined` for a worker that starts sealed */
  readonly start: (index: number, standing: Standing | undefined) => WorkerProcess
  /**
   * Checks that a master key opens the vault, which nobody has open.
   * @param masterKey wiped by it
   * @param wasKilled true if a process that had it open was killed since the last check
   * @throws CommandFailure if it does not
   */
  readonly tryKey: (masterKey: Uint8Array, wasKilled: boolean) => Promise<Exclude<Standing, 'own'>>
  readonly log: Log
}

interface Life {
  readonly worker: WorkerProcess
  /** The last state that it was ordered to; `undefined` for sealed. */
  given: Standing | undefined
  isListening: boolean
}

async function end({ worker }: Life): Promise<void> {
  worker.signal('SIGKILL')
  await worker.ended
}

/** @returns true if it was done */
async function order({ worker }: Life, standing: Standing | undefined): Promise<boolean> {
  if (standing === undefined) {
    return (await worker.ask('seal', { waitMsMax: workerStopMsMax })) === true
  }
  if (standing === 'own') return false
  const { keyringKey, mark } = standing
  worker.hand(keyringKey)
  const more = { waitMsMax: workerReadyMsMax, ...(mark === undefined ? {} : { mark }) }
  return (await worker.ask('unseal', more)) === true
}

/** @returns true if it came within the time that a worker has for its start */
async function isInTime(coming: Promise<void>): Promise<boolean> {
  const overdue = Promise.withResolvers<boolean>()
  const callOff = afterTurning(workerReadyMsMax, () => overdue.resolve(false))
  try {
    return await Promise.race([coming.then(() => true), overdue.promise])
  } finally {
    callOff()
  }
}

export interface LedWorkers {
  readonly sealing: SealSwitch<Standing>
  /** Starts a worker in the current state. */
  readonly start: (index: number) => WorkerProcess
  /** Returns an operation, as the worker of that number runs it. */
  readonly operation: (index: number) => ControlOperation
}

/** @param onKilled called when a worker was ended by a signal */
function makeCrew(
  { start, log }: Pick<LedParts, 'start' | 'log'>,
  first: Standing | undefined,
  onKilled: () => void,
) {
  const lives = new Set<Life>()
  let standing = first
  /** Resolves once a worker serves in the state of the last unsealing. */
  let opened = Promise.withResolvers<void>()

  /** Orders a worker to the current state, if it listens. */
  async function settle(life: Life): Promise<void> {
    if (!life.isListening) return
    if (life.given !== standing) {
      life.given = standing
      if (!(await order(life, standing))) {
        log('worker_overdue', { worker: life.worker.index })
        return end(life)
      }
    }
    if (standing !== undefined && life.given === standing) opened.resolve()
  }

  /** A worker that does not listen yet may be about to open the vault, and cannot be asked. */
  const seal = (life: Life): Promise<void> =>
    life.isListening || life.given === undefined ? settle(life) : end(life)

  return {
    /** @returns true if a worker serves with it; a replacement of one that failed may do so */
    async open(next: Standing): Promise<boolean> {
      opened = Promise.withResolvers()
      standing = next
      await Promise.all([...lives].map(settle))
      return isInTime(opened.promise)
    },
    async close(open: Standing): Promise<void> {
      standing = undefined
      if (open !== 'own') open.keyringKey.fill(0)
      await Promise.all([...lives].map(seal))
    },
    start(index: number): WorkerProcess {
      const life: Life = { worker: start(index, standing), given: standing, isListening: false }
      lives.add(life)
      const { isReady, ended } = life.worker
      void isReady.then(isListening => {
        life.isListening = isListening
        return settle(life)
      })
      void ended.then(how => {
        if ('signal' in how) onKilled()
        lives.delete(life)
      })
      return life.worker
    },
    findListening: (index: number): WorkerProcess | undefined =>
      [...lives].find(({ worker, isListening }) => isListening && worker.index === index)?.worker,
  }
}

/**
 * @param first how workers open the vault; sealed if `undefined`
 * @param wasKilled true if the process that had the vault open before was killed
 */
export function leadWorkers(
  { start, tryKey, log }: LedParts,
  first: Standing | undefined,
  wasKilled: boolean,
): LedWorkers {
  let wasAnyKilled = wasKilled
  const crew = makeCrew({ start, log }, first, () => {
    wasAnyKilled = true
  })
  const sealing = makeSealing<Standing>(
    {
      async open(masterKey) {
        const tried = await tryKey(masterKey, wasAnyKilled)
        wasAnyKilled = false
        if (await crew.open(tried)) return tried
        await crew.close(tried)
        throw new ApiError(
          'unavailable',
          'no worker has opened the vault: it is sealed as before, see the log',
        )
      },
      async close(open) {
        await crew.close(open)
        log('sealed')
      },
    },
    first,
  )
  return {
    sealing,
    start: crew.start,
    operation: index => async (_, tell, sent) => {
      const worker = crew.findListening(index)
      if (worker !== undefined) return worker.operate(sent, tell)
      throw new CommandFailure('the worker that does this is not there now: try again')
    },
  }
}
