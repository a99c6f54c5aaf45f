/**
 * Containers: paths that group tokens, `/pci/high/`.
 *
 * A normal container is in lower case, starts and ends with `/`, and has only non-empty segments of
 * ASCII letters, digits, `_` and `-`. So a prefix is always a whole-segment prefix. Source:
 * contract section 7.
 * @module
 */
import { invalid } from '../lib/errors.ts'
import { containerCharsMax, containerSegmentsMax } from '../limits/limits.ts'

// No flags: with `i` and `u` the Kelvin sign would count as a letter.
const shape = /^\/(?:[A-Za-z0-9_-]+\/)*$/

const separator = '/'

const segmentsOf = (container: string): readonly string[] => container.split(separator).slice(1, -1)

/**
 * decision: `/` alone is a container, for rules and for tokens. Only a rule on `/` covers a token
 * there, so it is the narrowest place, not the widest.
 * @param at  path under which a fault is reported
 * @returns the container in lower case
 * @throws ApiError `invalid_request`
 */
export const normaliseContainer = (container: string, at: string): string => {
  if (container.length > containerCharsMax) {
    throw invalid(at, `expected at most ${containerCharsMax} characters, got ${container.length}`)
  }
  if (!shape.test(container)) {
    throw invalid(at, 'expected a path as /a/b-1/ of letters, digits, underscores and dashes')
  }
  if (segmentsOf(container).length > containerSegmentsMax) {
    throw invalid(at, `expected at most ${containerSegmentsMax} segments`)
  }
  return container.toLowerCase()
}

/**
 * Normalises the beginning of a container, which may end within a segment: `/pci`. The empty text
 * begins all containers.
 * @param at  path under which a fault is reported
 * @returns the beginning in lower case
 * @throws ApiError `invalid_request` if no container can begin so
 */
export const normaliseContainerStart = (text: string, at: string): string =>
  text.endsWith('/')
    ? normaliseContainer(text, at)
    : normaliseContainer(text + '/', at).slice(0, -1)

/**
 * Both in normal form, where the closing `/` makes a prefix end with a segment.
 * @returns true if `inner` is `outer` or lies below it
 */
export const containerCovers = (outer: string, inner: string): boolean => inner.startsWith(outer)

/**
 * @param container  in normal form
 * @returns every container that covers it, from `/` to itself
 */
export const containerAncestors = (container: string): string[] => {
  const ancestors = [separator]
  for (const segment of segmentsOf(container)) {
    ancestors.push(`${ancestors.at(-1)}${segment}${separator}`)
  }
  return ancestors
}
