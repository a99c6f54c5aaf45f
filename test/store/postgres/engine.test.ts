import { describe } from 'bun:test'
import fc from 'fast-check'
import { temporaryFolder } from '../../support/folders.ts'
import { describeStoreContract } from '../contract.ts'
import { firstOrdinal, testModel } from '../model-run.ts'
import { isPostgresThere } from '../../support/postgres.ts'
import { openAt } from './subject.ts'

const never = 1_000_000

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('over PostgreSQL', () => {
  describeStoreContract('the PostgreSQL engine', folder => openAt(folder, { foldRows: never }))
  describeStoreContract('the PostgreSQL engine, amid folds,', folder =>
    openAt(folder, { foldRows: 1, foldLookMs: 5 }),
  )

  testModel(
    'the PostgreSQL engine',
    fc.constantFrom(1, 5, never),
    async foldRows => {
      const folder = temporaryFolder()
      return { open: () => openAt(folder, { foldRows, foldLookMs: 3 }, firstOrdinal) }
    },
    40,
  )
})
