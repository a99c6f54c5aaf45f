/**
 * Changing a closed store behind its back.
 * @module
 */
import {
  encodeState,
  openEnvironment,
  readState,
  stateKey,
  type Environment,
  type State,
} from '../../src/store/lmdb/environment.ts'

export async function tamper(
  path: string,
  change: (environment: Environment) => void,
): Promise<void> {
  const environment = openEnvironment(path)
  environment.root.transactionSync(() => change(environment))
  await environment.root.close()
}

export const changeState =
  (change: Partial<State>) =>
  (environment: Environment): void =>
    void environment.meta.putSync(stateKey, encodeState({ ...readState(environment), ...change }))
