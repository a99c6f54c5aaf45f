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
export type WorkerKey =
  | 'own'
  | {
      readonly keyringKey: Uint8Array
      /** The mark of the clock from before the vault was unsealed. */
      readonly mark?: string
    }

export interface LeaderParts {
  /** @param workerKey `undefined` for a worker that starts sealed */
  readonly start: (index: number, workerKey: WorkerKey | undefined) => WorkerProcess
  /**
   * Checks that a master key opens the vault, which nobody has open.
   * @param masterKey wiped by it
   * @param wasKilled true if a process that had it open was killed since the last check
   * @throws CommandFailure if it does not
   */
  readonly tryKey: (masterKey: Uint8Array, wasKilled: boolean) => Promise<Exclude<WorkerKey, 'own'>>
  readonly log: Log
}

interface Member {
  readonly worker: WorkerProcess
  /** The last state that it was ordered to; `undefined` for sealed. */
  given: WorkerKey | undefined
  isListening: boolean
}

async function end({ worker }: Member): Promise<void> {
  worker.signal('SIGKILL')
  await worker.ended
}

/** @returns true if it was done */
async function order({ worker }: Member, workerKey: WorkerKey | undefined): Promise<boolean> {
  if (workerKey === undefined) {
    return (await worker.ask('seal', { waitMsMax: workerStopMsMax })) === true
  }
  if (workerKey === 'own') return false
  const { keyringKey, mark } = workerKey
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

export interface WorkerLeader {
  readonly sealing: SealSwitch<WorkerKey>
  /** Starts a worker in the current state. */
  readonly start: (index: number) => WorkerProcess
  /** Returns an operation, as the worker of that number runs it. */
  readonly operation: (index: number) => ControlOperation
}

/** @param onKilled called when a worker was ended by a signal */
function makeGroup(
  { start, log }: Pick<LeaderParts, 'start' | 'log'>,
  first: WorkerKey | undefined,
  onKilled: () => void,
) {
  const members = new Set<Member>()
  let workerKey = first
  /** Resolves once a worker serves in the state of the last unsealing. */
  let opened = Promise.withResolvers<void>()

  /** Orders a worker to the current state, if it listens. */
  async function settle(member: Member): Promise<void> {
    if (!member.isListening) return
    if (member.given !== workerKey) {
      member.given = workerKey
      if (!(await order(member, workerKey))) {
        log('worker_overdue', { worker: member.worker.index })
        return end(member)
      }
    }
    if (workerKey !== undefined && member.given === workerKey) opened.resolve()
  }

  /** A worker that does not listen yet may be about to open the vault, and cannot be asked. */
  const seal = (member: Member): Promise<void> =>
    member.isListening || member.given === undefined ? settle(member) : end(member)

  return {
    /** @returns true if a worker serves with it; a replacement of one that failed may do so */
    async open(next: WorkerKey): Promise<boolean> {
      opened = Promise.withResolvers()
      workerKey = next
      await Promise.all([...members].map(settle))
      return isInTime(opened.promise)
    },
    async close(open: WorkerKey): Promise<void> {
      workerKey = undefined
      if (open !== 'own') open.keyringKey.fill(0)
      await Promise.all([...members].map(seal))
    },
    start(index: number): WorkerProcess {
      const member: Member = {
        worker: start(index, workerKey),
        given: workerKey,
        isListening: false,
      }
      members.add(member)
      const { isReady, ended } = member.worker
      void isReady.then(isListening => {
        member.isListening = isListening
        return settle(member)
      })
      void ended.then(how => {
        if ('signal' in how) onKilled()
        members.delete(member)
      })
      return member.worker
    },
    findListening: (index: number): WorkerProcess | undefined =>
      [...members].find(({ worker, isListening }) => isListening && worker.index === index)?.worker,
  }
}

/**
 * @param first how workers open the vault; sealed if `undefined`
 * @param wasKilled true if the process that had the vault open before was killed
 */
export function leadWorkers(
  { start, tryKey, log }: LeaderParts,
  first: WorkerKey | undefined,
  wasKilled: boolean,
): WorkerLeader {
  let wasAnyKilled = wasKilled
  const group = makeGroup({ start, log }, first, () => {
    wasAnyKilled = true
  })
  const sealing = makeSealing<WorkerKey>(
    {
      async open(masterKey) {
        const tried = await tryKey(masterKey, wasAnyKilled)
        wasAnyKilled = false
        if (await group.open(tried)) return tried
        await group.close(tried)
        throw new ApiError(
          'unavailable',
          'no worker has opened the vault: it is sealed as before, see the log',
        )
      },
      async close(open) {
        await group.close(open)
        log('sealed')
      },
    },
    first,
  )
  return {
    sealing,
    start: group.start,
    operation: index => async (_, tell, sent) => {
      const worker = group.findListening(index)
      if (worker !== undefined) return worker.operate(sent, tell)
      throw new CommandFailure('the worker that does this is not there now: try again')
    },
  }
}
