/**
 * All operations of an operator, by name.
 * @module
 */
import { applicationKeyOperations } from './app-key-operations.ts'
import { applicationOperations } from './app-operations.ts'
import { keyOperations, type Resealer } from './key-operations.ts'
import { logOperations } from './log-operations.ts'
import { audited } from './operation-audit.ts'
import type { Administered, Operations } from './operator-operation.ts'
import { sessionOperations } from './session-operations.ts'
import { statusOperations } from './status-operation.ts'

export const makeOperations = (vault: Administered, reseal: Resealer): Operations =>
  audited(vault.deps, {
    ...applicationOperations(vault),
    ...applicationKeyOperations(vault),
    ...sessionOperations(vault),
    ...keyOperations(vault, reseal),
    ...statusOperations(vault),
    ...logOperations(vault),
  })
