/**
 * Changing a closed store behind its back.
 * @module
 */
import {
  encodeState,
  openEnvironment,
  readState,
  stateKey,
  type LmdbEnvironment,
  type StoreState,
} from '../../src/store/lmdb/environment.ts'

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
