/**
 * Pages that are asked for: mostly one of the first, in small sizes, so that there are many.
 * @module
 */
import fc from 'fast-check'

const wrong = ['0', '-1', '1.5', 'x', '']

const rarely = <T>(usual: readonly T[], unusual: readonly T[]) =>
  fc.oneof(
    { arbitrary: fc.constantFrom(...usual), weight: 16 },
    { arbitrary: fc.constantFrom(...unusual), weight: 1 },
  )

export const pagings = fc.record({
  page: rarely<string | undefined>([undefined, '1', '2', '3'], wrong),
  size: rarely<string | undefined>([undefined, '1', '2', '3', '100'], [...wrong, '101']),
})

export type PageInput = typeof pagings extends fc.Arbitrary<infer Input> ? Input : never
