/**
 * Changing a closed store behind its back.
 * @module
 */
import { openEnvironment, type LmdbEnvironment } from '../../src/store/lmdb/environment.ts'
import {
  encodeState,
  readState,
  stateKey,
  type StoreState,
} from '../../src/store/lmdb/store-state.ts'

export async function tamper(
  path: string,
  change: (environment: LmdbEnvironment) => void,
): Promise<void> {
  const environment = openEnvironment(path)
  environment.root.transactionSync(() => change(environment))
  await environment.root.close()
}

export const changeState =
  (change: Partial<StoreState>) =>
  (environment: LmdbEnvironment): void =>
    void environment.meta.putSync(stateKey, encodeState({ ...readState(environment), ...change }))
