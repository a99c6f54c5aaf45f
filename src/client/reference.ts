/**
 * References to tokens, which `detokenize` replaces.
 * @module
 */

/** Characters that would end the id, or begin something else. */
const foreign = /[|{}]/

/**
 * A reference to a token for `detokenize`: to all of its data, or to the value at a path.
 *
 * @param path  a JSONPath such as `$.number` or `$.items[0].price`
 * @returns `{{ <id> }}`, or `{{ <id> | json: '<path>' }}`
 * @throws TypeError for an invalid id or path
 * @example
 * await vault.detokenize({ number: ref(card.id, '$.number') })
 */
export function ref(id: string, path?: string): string {
  if (typeof id !== 'string' || id.trim() === '' || foreign.test(id)) {
    throw new TypeError('ref: expected the id of a token')
  }
  if (path === undefined) return `{{ ${id} }}`
  const quote = path.includes("'") ? '"' : "'"
  if (!path.startsWith('$') || /[{}\\]/.test(path) || path.includes(quote)) {
    throw new TypeError('ref: expected a path such as $.number')
  }
  return `{{ ${id} | json: ${quote}${path}${quote} }}`
}
