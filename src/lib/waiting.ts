/**
 * What is there at once, unless something had to be waited for: most requests wait for nothing but
 * their body and their commit, and each promise more costs about as much as an evaluated mask.
 * @module
 */

export type MaybeLater<T> = T | Promise<T>

/** What follows, at once where nothing has to be waited for. */
export const andThen = <T, R>(
  value: MaybeLater<T>,
  then: (value: T) => MaybeLater<R>,
): MaybeLater<R> => (value instanceof Promise ? value.then(then) : then(value))

/** What `task` gives, or what `caught` makes of what it throws, at once or later. */
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
