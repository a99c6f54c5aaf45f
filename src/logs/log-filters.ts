/**
 * Filters of the audit log, read from the query string. Source: contract section 17.
 *
 * decision: a filter that is repeated, or is no transform, status or instant where it must be one,
 * is refused: an empty list would be taken for an answer.
 * @module
 */
import { keptId } from '../audit/entry.ts'
import type { EntryFilter } from '../audit/entry-filter.ts'
import type { QueryParameters } from '../http/request.ts'
import { invalid } from '../lib/errors.ts'
import { transforms } from '../rules/access.ts'
import { parseInstant } from '../rules/instants.ts'
import { resultMax, resultMin } from './schema.ts'

function oneOf(query: QueryParameters, name: string): string | undefined {
  const values = query.get(name) ?? []
  if (values.length > 1) throw invalid(`query.${name}`, 'expected one value')
  return values[0]
}

function instantOf(query: QueryParameters, name: string): number | undefined {
  const text = oneOf(query, name)
  return text === undefined ? undefined : parseInstant(text, `query.${name}`).epochMs
}

function transformOf(query: QueryParameters): string | undefined {
  const text = oneOf(query, 'transform')
  if (text === undefined || transforms.some(name => name === text)) return text
  throw invalid('query.transform', `expected one of ${transforms.join(', ')}`)
}

function resultOf(query: QueryParameters): string | undefined {
  const text = oneOf(query, 'result')
  const isStatus = text === undefined || /^[1-5][0-9]{2}$/.test(text)
  if (isStatus) return text
  throw invalid('query.result', `expected an integer from ${resultMin} to ${resultMax}`)
}

/** @throws ApiError `invalid_request` */
export function readLogFilter(query: QueryParameters, tenantId: string): EntryFilter {
  const entityId = oneOf(query, 'entity_id')
  return {
    tenantId,
    entityType: oneOf(query, 'entity_type'),
    entityId: entityId === undefined ? undefined : keptId(entityId),
    fromMs: instantOf(query, 'start_date'),
    beforeMs: instantOf(query, 'end_date'),
    operation: oneOf(query, 'operation'),
    actorId: oneOf(query, 'actor_id'),
    keyId: oneOf(query, 'key_id'),
    transform: transformOf(query),
    result: resultOf(query),
    traceId: oneOf(query, 'trace_id'),
    from: oneOf(query, 'from'),
  }
}
