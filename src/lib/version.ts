/**
 * Which coffer this is: the version of its interface and its files, and the sources that it was
 * built of.
 * @module
 */
import { version as released } from '../../package.json' with { type: 'json' }

/** Put in its place by `scripts/binary.ts`; a run from source has none. */
declare const COFFER_BUILD: string | undefined

export const version: string = released

/** Follows from the sources alone: `scripts/build-id.ts` tells that of a checkout. */
export const build: string = typeof COFFER_BUILD === 'undefined' ? 'source' : COFFER_BUILD

/** Such as `0.1.0+3f9c0a41d2be`. Source: Semantic Versioning 2.0.0, item 10. */
export const versionAndBuild = `${version}+${build}`
