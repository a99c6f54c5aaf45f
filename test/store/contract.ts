/**
 * The store contract as a suite: every engine runs it, none may differ.
 *
 * @module
 */
import { afterEach, beforeEach, describe } from 'bun:test'
import type { OperatedStore } from '../../src/store/operated.ts'
import { temporaryFolder } from '../support/folders.ts'
import { describeLogEntries } from './contract-entries.ts'
import { describeLog, describeLogChanges, describeLogRefusals } from './contract-log.ts'
import { describePages } from './contract-pages.ts'
import { describeReseal } from './contract-reseal.ts'
import { describeWrites } from './contract-writes.ts'
import { describeSum } from './contract-sum.ts'
import type { Subject } from './subject.ts'

/**
 * @param open  opens the store at a folder, and makes it there when it is new; an engine without
 *   files takes the folder's name as a name
 */
export function describeStoreContract(
  name: string,
  open: (folder: string) => Promise<OperatedStore>,
): void {
  describe(`${name} keeps the store contract`, () => {
    let folder: string
    let store: OperatedStore
    beforeEach(async () => {
      folder = temporaryFolder()
      store = await open(folder)
    })
    afterEach(() => store.close())
    const subject: Subject = {
      store: () => store,
      reopen: async () => {
        await store.close()
        store = await open(folder)
        return store
      },
    }
    describeWrites(subject)
    describeReseal(subject)
    describePages(subject)
    describeLog(subject)
    describeLogChanges(subject)
    describeLogEntries(subject)
    describeLogRefusals(subject)
    describeSum(subject)
  })
}
