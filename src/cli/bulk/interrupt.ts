/**
 * Bulk work that somebody interrupts: it stops between two steps, and reports what is done.
 * @module
 */
import { stderrNow } from '../../server/process/system.ts'
import { endingSignals } from '../../server/process/vault-process.ts'

/** @param use checks if it should end; a second signal ends the process at once */
export async function untilInterrupted<T>(
  use: (isInterrupted: () => boolean) => Promise<T>,
): Promise<T> {
  let isInterrupted = false
  const interrupt = (): void => {
    isInterrupted = true
    stderrNow.line('coffer: ending; once more ends it at once')
    leave()
  }
  const leave = (): void => {
    for (const signal of endingSignals) process.off(signal, interrupt)
  }
  for (const signal of endingSignals) process.on(signal, interrupt)
  try {
    return await use(() => isInterrupted)
  } finally {
    leave()
  }
}
