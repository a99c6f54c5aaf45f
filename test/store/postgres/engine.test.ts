import { describe } from 'bun:test'
import fc from 'fast-check'
import { temporaryFolder } from '../../support/folders.ts'
import { describeStoreContract } from '../contract.ts'
import { firstOrdinal, testModel } from '../model-run.ts'
import { isPostgresThere } from '../../support/postgres.ts'
import type { OperatedStore } from '../../../src/store/operated.ts'
import { openAt, patient } from './subject.ts'

const never = 1_000_000

/** Writes go to one of two, and questions to the other; after each page the other way round. */
function inTurns(pair: readonly [OperatedStore, OperatedStore]): OperatedStore {
  let turn = 0
  const writing = (): OperatedStore => pair[turn === 0 ? 0 : 1]
  const reading = (): OperatedStore => pair[turn === 0 ? 1 : 0]
  const [first] = pair
  return {
    ...first,
    keepSum: sealer => {
      for (const store of pair) store.keepSum(sealer)
    },
    eachRow: (...takers) => reading().eachRow(...takers),
    write: changes => writing().write(changes),
    find: unique => reading().find(unique),
    glance: (unique, parts) => reading().glance(unique, parts),
    due: (nowMs, limit) => reading().due(nowMs, limit),
    generation: () => reading().generation(),
    integrity: () => reading().integrity(),
    page: (query, window) => {
      const asked = reading().page(query, window)
      turn = 1 - turn
      return asked
    },
    close: async () => {
      await Promise.all(pair.map(store => store.close()))
    },
  }
}

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('over PostgreSQL', () => {
  describeStoreContract('the PostgreSQL engine', folder =>
    openAt(folder, { bounds: patient, foldRows: never }),
  )
  describeStoreContract('the PostgreSQL engine, amid folds,', folder =>
    openAt(folder, { bounds: patient, foldRows: 1, foldCheckMs: 5 }),
  )

  testModel(
    'the PostgreSQL engine',
    fc.constantFrom(1, 5, never),
    async foldRows => {
      const folder = temporaryFolder()
      return {
        open: () => openAt(folder, { bounds: patient, foldRows, foldCheckMs: 10 }, firstOrdinal),
      }
    },
    40,
  )

  testModel(
    'a vault that reads what another one writes',
    fc.constantFrom(1, 5, never),
    async foldRows => {
      const folder = temporaryFolder()
      const open = () =>
        openAt(folder, { bounds: patient, foldRows, foldCheckMs: 10 }, firstOrdinal)
      return { open: async () => inTurns([await open(), await open()]) }
    },
    30,
  )
})
