/**
 * Paths and queries.
 * @module
 */

type Value =
  string | number | boolean | undefined | readonly string[] | Readonly<Record<string, string>>

function* pairsOf(name: string, value: Value): Generator<readonly [string, string]> {
  if (value === undefined) return
  if (typeof value !== 'object') yield [name, String(value)]
  else if (Array.isArray(value)) for (const each of value) yield [name, String(each)]
  else for (const [key, each] of Object.entries(value)) yield [`${name}[${key}]`, String(each)]
}

/** A list is repeated, texts by name are `metadata[key]=value`, `undefined` is left out. */
export function withQuery(path: string, query: Readonly<Record<string, Value>>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const [key, text] of pairsOf(name, value)) search.append(key, text)
  }
  const text = search.toString()
  return text === '' ? path : `${path}?${text}`
}

/** Path steps, which are no names (RFC 3986 section 5.2.4): they would lead elsewhere. */
const steps = ['', '.', '..']

/** @throws TypeError for an id that would be another address */
export function below(path: string, id: string): string {
  if (typeof id !== 'string' || steps.includes(id)) throw new TypeError('expected the id as a text')
  return `${path}/${encodeURIComponent(id)}`
}
