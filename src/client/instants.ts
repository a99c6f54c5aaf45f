/**
 * Instants of answers, which are texts on the wire and dates in a program.
 * @module
 */

const names = [
  'created_at',
  'modified_at',
  'expires_at',
  'authorized_at',
  'cvc_expires_at',
  'timestamp',
  'next_attempt_at',
  'given_up_at',
]

type Members = Record<string, unknown>

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null

/** Converts the instants of one object. Its data is the caller's own. */
export function dated(thing: unknown): unknown {
  if (!isObject(thing)) return thing
  for (const name of names) {
    const text = thing[name]
    if (typeof text === 'string') thing[name] = new Date(text)
  }
  dated(thing['_extras'])
  return thing
}

/** Converts those of an object, of an array of them, or of a page. */
export function withDates(answer: unknown): unknown {
  if (Array.isArray(answer)) answer.forEach(dated)
  else if (isObject(answer) && isObject(answer['pagination']) && Array.isArray(answer['data'])) {
    answer['data'].forEach(dated)
  } else dated(answer)
  return answer
}
