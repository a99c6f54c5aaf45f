/**
 * What is there at once, unless something had to be waited for: most requests wait for nothing but
 * their body and their commit, and each promise more costs about as much as an evaluated mask.
 *
 * @module
 */

export type MaybeLater<T> = T | Promise<T>

/** What follows, at once where nothing has to be waited for. */
export const andThen = <T, R>(
  value: MaybeLater<T>,
  then: (value: T) => MaybeLater<R>,
): MaybeLater<R> => (value instanceof Promise ? value.then(then) : then(value))
