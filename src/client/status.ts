/**
 * Operations that tell of the vault as a whole.
 * @module
 */
import type { Ask } from './ask.ts'
import type { Answer, CallOptions } from './call.ts'
import type { ShownSettings, Status, StatusHistory } from './interface.ts'

/** The state of the vault, for a management application of its first tenant with `status:read`. */
export interface VaultStatus {
  /**
   * Tells whether the vault is well.
   *
   * @throws CofferError `forbidden`, `unavailable`
   * @example
   * const { is_ready, failing } = await manager.status.get()
   */
  get(options?: CallOptions): Answer<Status>

  /**
   * Tells of the last hour in samples, oldest first.
   *
   * @throws CofferError `forbidden`, `unavailable`
   * @example
   * const { samples } = await manager.status.history()
   */
  history(options?: CallOptions): Answer<StatusHistory>

  /**
   * Lists the settings in force, and where each comes from.
   *
   * @throws CofferError `forbidden`, `unavailable`
   * @example
   * const { settings } = await manager.status.settings()
   */
  settings(options?: CallOptions): Answer<ShownSettings>
}

/** @internal */
export const statusOperations = (ask: Ask): VaultStatus => ({
  get: options => ask.plain('GET', '/status', undefined, options),

  history: options => ask.plain('GET', '/status/history', undefined, options),

  settings: options => ask.plain('GET', '/status/settings', undefined, options),
})
