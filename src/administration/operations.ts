/**
 * All that an operator may have a vault do, by name.
 * @module
 */
import { applicationKeyOperations } from './application-keys.ts'
import { applicationOperations } from './applications.ts'
import { keyOperations, type Resealer } from './keys.ts'
import { logOperations } from './logs.ts'
import type { Administered, Operations } from './operation.ts'
import { sessionOperations } from './sessions.ts'
import { statusOperations } from './status.ts'

export const makeOperations = (vault: Administered, reseal: Resealer): Operations => ({
  ...applicationOperations(vault),
  ...applicationKeyOperations(vault),
  ...sessionOperations(vault),
  ...keyOperations(vault, reseal),
  ...statusOperations(vault),
  ...logOperations(vault),
})
