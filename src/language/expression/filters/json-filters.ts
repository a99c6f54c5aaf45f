/**
 * The `json` filter: the value that a JSONPath query picks, by RFC 9535.
 *
 * One result is returned, none is null, several are an error. Source: contract section 6.
 * @module
 */
import { ApiError } from '../../../lib/errors.ts'
import { findValues } from '../json-path/evaluate.ts'
import { parseJsonPath } from '../json-path/parse-path.ts'
import { failed, jsonOf } from '../run.ts'
import { checkedTextRule, textAt, type FilterDefinition } from './definition.ts'

/**
 * Returns the fault in the text of a query, if any.
 * @throws anything from `parse` that is not a refusal: a fault of ours must not read as one
 */
export const queryFault = (parse: (text: string) => unknown, text: string): string | undefined => {
  try {
    parse(text)
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return `expected a JSONPath query, at its ${error.message}`
    throw error
  }
}

const queryRule = checkedTextRule(text => queryFault(parseJsonPath, text))

export const jsonPath: FilterDefinition = {
  required: [queryRule],
  bind: operands => {
    const query = parseJsonPath(textAt(operands, 0, ''))
    return (input, run) => {
      const [value, ...others] = findValues(query, jsonOf(input), run, 2)
      if (value === undefined) run.isPathMissed = true
      if (others.length > 0) throw failed(run, 'expected one result of the JSONPath query')
      return value ?? null
    }
  },
}
