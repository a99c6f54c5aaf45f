/**
 * Operations of the control socket, for a vault that may be sealed.
 * @module
 */
import type { Log } from '../../deps.ts'
import { findIn, startControl, type Control, type ControlOperation } from './control.ts'
import { CommandFailure } from '../process/failure.ts'
import type { SealSwitch } from '../keys/sealing.ts'
import type { Unsealer } from '../keys/unsealer.ts'

/** A vault that can be sealed and unsealed. */
export interface SealableVault<T> {
  readonly sealing: SealSwitch<T>
  readonly unsealer: Unsealer
}

/** @throws CommandFailure while it is sealed */
export function whileOpen<T>({ current }: Pick<SealSwitch<T>, 'current'>): T {
  const open = current()
  if (open === undefined) throw new CommandFailure('the vault is sealed: run coffer unseal')
  return open
}

/**
 * @param path of the socket
 * @param find returns an operation of an open vault
 * @throws CommandFailure as `startControl`
 */
export function startVaultControl<T>(
  path: string,
  { sealing, unsealer }: SealableVault<T>,
  find: (open: T, name: string) => ControlOperation | undefined,
  log: Log,
): Control {
  const findSealing = findIn<ControlOperation>({
    seal: async () => {
      await sealing.seal()
      return unsealer.status()
    },
    'seal-status': async () => unsealer.status(),
    'unseal-reset': async () => unsealer.reset(),
  })
  const findAny = (name: string): ControlOperation | undefined =>
    findSealing(name) ?? find(whileOpen(sealing), name)
  return startControl(path, findAny, log, { unseal: unsealer.take })
}
