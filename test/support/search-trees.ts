/**
 * Random search trees, over the words that a test gives.
 * @module
 */
import fc from 'fast-check'
import type { Clause, SearchTree } from '../../src/language/search-query.ts'

export interface SearchWords {
  readonly texts: Readonly<
    Record<'id' | 'type' | 'data' | 'fingerprint' | 'applicationId', fc.Arbitrary<string>>
  >
  readonly keys: fc.Arbitrary<string>
  readonly metadata: fc.Arbitrary<string>
  /** Containers in normal form. */
  readonly containers: fc.Arbitrary<string>
  readonly containerStarts: fc.Arbitrary<string>
  /** Unix milliseconds. */
  readonly instants: fc.Arbitrary<number>
}

const clausesOf = (words: SearchWords): fc.Arbitrary<Clause> => {
  const { id, type, data, fingerprint, applicationId } = words.texts
  const record = fc.record
  const is = <T extends string>(...fields: T[]) => fc.constantFrom(...fields)
  return fc.oneof(
    record({ field: is('id'), value: id }),
    record({ field: is('type'), value: type }),
    record({ field: is('data'), value: data }),
    record({ field: is('fingerprint'), value: fingerprint }),
    record({ field: is('created_by', 'modified_by'), value: applicationId }),
    record({ field: is('metadata'), key: words.keys, value: words.metadata }),
    record({ field: is('container'), value: words.containers, isStart: fc.constant(false) }),
    record({ field: is('container'), value: words.containerStarts, isStart: fc.constant(true) }),
    record({
      field: is('created_at', 'modified_at'),
      fromMs: fc.oneof(words.instants, fc.constant(-Infinity)),
      beforeMs: fc.oneof(
        words.instants.map(ms => ms + 1),
        fc.constant(Infinity),
      ),
    }),
  )
}

export const searchTrees = (words: SearchWords): fc.Arbitrary<SearchTree> =>
  fc.letrec<{ tree: SearchTree }>(tie => {
    const parts = fc.array(tie('tree'), { minLength: 2, maxLength: 3 })
    return {
      tree: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        clausesOf(words),
        parts.map(all => ({ all })),
        parts.map(any => ({ any })),
        tie('tree').map(not => ({ not })),
      ),
    }
  }).tree
