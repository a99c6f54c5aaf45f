/**
 * Random runs of the model of the log against the real application.
 * @module
 */
import { expect } from 'bun:test'
import fc from 'fast-check'
import { freshSeed } from '../../support/thorough.ts'
import type { TestVault } from '../../support/vault.ts'
import { expectAnswered, learnLog, questions } from './questions.ts'
import { draws } from './requests.ts'
import { beginRun, loginsTold, openVault, sendStep, writeAll } from './server.ts'

const steps = fc.record({
  sent: fc.array(draws, { minLength: 1, maxLength: 4 }),
  isWritten: fc.boolean(),
})

export interface LogRuns {
  readonly numRuns: number
  readonly maxSteps: number
  /** Seed and path of a failed run, to repeat it: both stand in its report. */
  readonly seed?: number
  readonly path?: string
}

/** Tenants of one store: each has keys in locked memory. */
const runsPerVault = 50

/** Fails with the seed and the shortest run found in which model and log differ. */
export async function checkLog({ maxSteps, ...runs }: LogRuns): Promise<void> {
  const { seed = freshSeed() } = runs
  console.info(`log: ${runs.numRuns} runs of seed ${seed}`)
  let vault: TestVault | undefined
  let begun = 0
  let logins = 0
  const all = fc.array(steps, { minLength: 1, maxLength: maxSteps, size: 'max' })
  const asked = fc.array(questions, { maxLength: 12, size: 'max' })
  const more = fc.array(draws, { maxLength: 3 })
  const forget = (): void => {
    vault = undefined
    begun = 0
    logins = 0
  }
  const property = fc.asyncProperty(all, asked, more, async (sent, asking, growing) => {
    if (begun === runsPerVault) {
      await vault?.deps.store.close()
      forget()
    }
    vault ??= await openVault()
    begun += 1
    try {
      const run = await beginRun(vault)
      for (const step of sent) {
        await sendStep(run, step.sent)
        if (step.isWritten) await writeAll(run)
      }
      const learned = await learnLog(run)
      for (const question of asking) await expectAnswered(run, learned, question, growing)
      await learnLog(run)
      logins += run.model.refusedLogins
      expect(await loginsTold(run)).toBe(logins)
    } catch (error) {
      // The next run counts anew.
      forget()
      throw error
    }
  })
  try {
    await fc.assert(property, {
      ...runs,
      seed,
      endOnFailure: process.env['NOSHRINK'] !== undefined,
    })
  } finally {
    await vault?.deps.store.close()
  }
}
