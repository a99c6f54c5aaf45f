/**
 * Version of this coffer: of its interface and its files, with an id of the sources it was built
 * from.
 * @module
 */
import { version as released } from '../../package.json' with { type: 'json' }

/** Set by `scripts/binary.ts`; absent when run from source. */
declare const COFFER_BUILD: string | undefined

export const version: string = released

/** Depends on the sources alone: `scripts/build-id.ts` computes it for a checkout. */
export const build: string = typeof COFFER_BUILD === 'undefined' ? 'source' : COFFER_BUILD

/** Such as `0.1.0+3f9c0a41d2be`. Source: Semantic Versioning 2.0.0, item 10. */
export const versionAndBuild = `${version}+${build}`
