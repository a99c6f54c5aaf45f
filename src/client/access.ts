/**
 * Operations that tell about access.
 * @module
 */
import type { Ask } from './ask.ts'
import type { Answer, CallOptions } from './call.ts'
import type {
  Access,
  AccessSimulation,
  ExplainAccessRequest,
  SimulateAccessRequest,
} from './interface.ts'

/** Tells about access, to a management application with `access:explain`. */
export interface AccessFacts {
  /**
   * Tells what an application would get of a token or in a place, and which rule decides.
   *
   * @throws CofferError `invalid_request`, `forbidden`, `not_found`
   * @example
   * const { text } = await manager.access.explain({
   *   application_id: application.id,
   *   permission: 'token:read',
   *   token_id: id,
   * })
   */
  explain(question: ExplainAccessRequest, options?: CallOptions): Answer<Access>

  /**
   * Counts the tokens that an application would see otherwise with other grants; changes nothing.
   *
   * @throws CofferError `invalid_request`, `forbidden`, `not_found`
   * @example
   * const { changes } = await manager.access.simulate({
   *   application_id: application.id,
   *   proposed: { permissions: ['token:read'] },
   * })
   */
  simulate(question: SimulateAccessRequest, options?: CallOptions): Answer<AccessSimulation>
}

/** @internal */
export const accessOperations = (ask: Ask): AccessFacts => ({
  explain: (question, options) => ask.plain('POST', '/access/explain', question, options),

  simulate: (question, options) => ask.plain('POST', '/access/simulate', question, options),
})
