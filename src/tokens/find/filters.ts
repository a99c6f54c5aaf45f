/**
 * Filters of a token list, read from the query string. Source: contract section 14.
 *
 * Metadata comes in three forms: `metadata.k=v`, `metadata[k]=v`, `metadata={"k":"v"}`. If a name
 * is repeated, the first value counts. Unknown parameters are ignored.
 * @module
 */
import { lesserTransforms, type LesserTransform } from '../../rules/access.ts'
import { normaliseContainer } from '../../rules/container-paths.ts'
import { isJsonObject, type JsonObject } from '../../lib/json/json.ts'
import { parseJson } from '../../lib/json/parse-json.ts'
import { TextMap } from '../../lib/maps.ts'
import { ApiError, invalid } from '../../lib/errors.ts'
import type { QueryParameters } from '../../http/request.ts'
import { idFilterMax } from '../../limits/limits.ts'
import type { ListFilter } from './listing.ts'

const metadataName = 'metadata'

function readObjectForm(text: string): JsonObject {
  let value: ReturnType<typeof parseJson>
  try {
    value = parseJson(text)
  } catch (thrown) {
    if (thrown instanceof ApiError) throw invalid('query.metadata', 'expected a JSON object')
    throw thrown
  }
  if (!isJsonObject(value)) throw invalid('query.metadata', 'expected a JSON object')
  return value
}

/** Returns the metadata name in a parameter's name, or `undefined` for any other parameter. */
function metadataNameOf(parameter: string): string | undefined {
  if (parameter.startsWith('metadata.')) return parameter.slice('metadata.'.length)
  if (parameter.startsWith('metadata[') && parameter.endsWith(']')) {
    return parameter.slice('metadata['.length, -1)
  }
  return undefined
}

function addPair(pairs: TextMap<string>, name: string, value: unknown): void {
  if (typeof value !== 'string') throw invalid('query.metadata', 'expected texts as values')
  if (!pairs.has(name)) pairs.set(name, value)
}

function readMetadata(query: QueryParameters): TextMap<string> {
  const pairs = new TextMap<string>()
  for (const [parameter, [first]] of query) {
    if (parameter === metadataName && first !== undefined) {
      for (const [name, value] of readObjectForm(first)) addPair(pairs, name, value)
    }
    const name = metadataNameOf(parameter)
    if (name !== undefined) addPair(pairs, name, first)
  }
  return pairs
}

/** @throws ApiError `invalid_request` for any other transform, or several */
export function lesserTransformOf(query: QueryParameters): LesserTransform | undefined {
  const values = query.get('transform')
  if (values === undefined) return undefined
  const found = lesserTransforms.find(name => name === values[0])
  if (found !== undefined && values.length === 1) return found
  throw invalid('query.transform', `expected one of ${lesserTransforms.join(', ')}`)
}

/** @throws ApiError `invalid_request` for too many ids, or a filter whose form cannot match */
export function readTokenFilter(query: QueryParameters): ListFilter {
  const ids = query.get('id') ?? []
  if (ids.length > idFilterMax) throw invalid('query.id', `expected at most ${idFilterMax} values`)
  return {
    ids,
    types: query.get('type') ?? [],
    containers: (query.get('container') ?? []).map(container =>
      normaliseContainer(container, 'query.container'),
    ),
    fingerprints: query.get('fingerprint') ?? [],
    metadata: readMetadata(query),
    asked: lesserTransformOf(query),
  }
}
