/**
 * Workers that are sealed and unsealed together, by the process that leads them.
 *
 * It keeps what opens the vault, derived from the master key, in locked memory, for workers that
 * are started later; the master key and its shares it does not keep. A worker that has not followed
 * in time is killed: the one in its place begins as all stand then.
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

/** How workers open the vault: `own` is each for itself. */
export type Standing =
  | 'own'
  | {
      readonly keyringKey: Uint8Array
      /** The mark of the clock from before the vault was unsealed. */
      readonly mark?: string
    }

export interface LedParts {
  /** @param standing `undefined` for one that begins sealed */
  readonly start: (index: number, standing: Standing | undefined) => WorkerProcess
  /**
   * Looks whether a master key opens the vault, which nobody has open.
   * @param masterKey wiped by it
   * @param wasKilled whether a process that had it open was killed since it was looked at
   * @throws CommandFailure where it does not
   */
  readonly tryKey: (masterKey: Uint8Array, wasKilled: boolean) => Promise<Exclude<Standing, 'own'>>
  readonly log: Log
}

interface Life {
  readonly worker: WorkerProcess
  /** How it was told to open the vault last; `undefined` once it was to be sealed. */
  given: Standing | undefined
  isListening: boolean
}

async function end({ worker }: Life): Promise<void> {
  worker.signal('SIGKILL')
  await worker.ended
}

/** @returns whether it is done */
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

/** @returns whether it came in the time that a worker gets to listen in */
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
  /** Starts a worker, as all stand. */
  readonly start: (index: number) => WorkerProcess
  /** An operation as the worker of that number does it. */
  readonly operation: (index: number) => ControlOperation
}

/** @param onKilled told when a worker was ended by a signal */
function makeCrew(
  { start, log }: Pick<LedParts, 'start' | 'log'>,
  first: Standing | undefined,
  onKilled: () => void,
) {
  const lives = new Set<Life>()
  let standing = first
  /** Resolves once a worker serves by what the vault was unsealed with last. */
  let opened = Promise.withResolvers<void>()

  /** Has a worker follow, at once where it listens. */
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

  /** One that does not listen yet may be about to open the vault, and hears nothing. */
  const seal = (life: Life): Promise<void> =>
    life.isListening || life.given === undefined ? settle(life) : end(life)

  return {
    /** @returns whether a worker serves by it; where none has followed, one in its place may */
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
 * @param first how workers open the vault; sealed where it is `undefined`
 * @param wasKilled whether the process that had the vault open before was killed
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
