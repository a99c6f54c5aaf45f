/**
 * Values that are often ready at once: most requests wait only for their body and their commit, and
 * each further promise costs about as much as evaluating a mask.
 * @module
 */

export type MaybeLater<T> = T | Promise<T>

/** Calls `then` with the value: at once, unless it is a promise. */
export const andThen = <T, R>(
  value: MaybeLater<T>,
  then: (value: T) => MaybeLater<R>,
): MaybeLater<R> => (value instanceof Promise ? value.then(then) : then(value))

/** Returns the result of `task`, or that of `caught` if it throws, at once or later. */
export function orElse<T, R>(
  task: () => MaybeLater<T>,
  caught: (thrown: unknown) => MaybeLater<R>,
): MaybeLater<T | R> {
  try {
    const value = task()
    return value instanceof Promise ? value.catch(caught) : value
  } catch (thrown) {
    return caught(thrown)
  }
}
