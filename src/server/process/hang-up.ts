/**
 * Signals that end no server: SIGHUP, at the end of a terminal, asks for a look at the files; those
 * that other programs reopen their logs or print their state by mean nothing here.
 * @module
 */

/** Of this process, as signals are. */
const hangUp: { isOutlived: boolean; isPending: boolean; reload?: () => void } = {
  isOutlived: false,
  isPending: false,
}

/** Sent by a supervisor or a rotation of logs that was written for another program. */
const withoutMeaning = ['SIGUSR1', 'SIGUSR2', 'SIGALRM'] as const

/** Their default is the end of the process. Source: signal(7). */
export function outliveOtherSignals(): void {
  for (const signal of withoutMeaning) process.on(signal, () => {})
}

/** First of all that a server does: one that comes before is its end. */
export function outliveTerminal(): void {
  if (hangUp.isOutlived) return
  hangUp.isOutlived = true
  outliveOtherSignals()
  process.on('SIGHUP', () => {
    if (hangUp.reload === undefined) hangUp.isPending = true
    else hangUp.reload()
  })
}

/** @param reload from now on, and at once where one came while there was nothing to read anew */
export function reloadOnHangUp(reload: () => void): void {
  hangUp.reload = reload
  if (hangUp.isPending) reload()
  hangUp.isPending = false
}
