/**
 * What is made once for an object, and kept for as long as that lives.
 *
 * @module
 */

/** @returns a function that gives what was made for the same object before */
export function keptFor<K extends object, V extends object, M = void>(
  make: (key: K, more: M) => V,
): (key: K, more: M) => V {
  const kept = new WeakMap<K, V>()
  return (key, more) => {
    let value = kept.get(key)
    if (value === undefined) {
      value = make(key, more)
      kept.set(key, value)
    }
    return value
  }
}
