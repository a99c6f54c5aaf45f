/**
 * Signals that do not end a server: SIGHUP, also sent when a terminal closes, reloads its files;
 * signals by which other programs reopen logs or print their state are ignored.
 * @module
 */

/** Per process, as signals are. */
const hangUp: { isOutlived: boolean; isPending: boolean; reload?: () => void } = {
  isOutlived: false,
  isPending: false,
}

/** Sent by a supervisor or a log rotation that was written for another program. */
const withoutMeaning = ['SIGUSR1', 'SIGUSR2', 'SIGALRM'] as const

/** By default they end the process. Source: signal(7). */
export function outliveOtherSignals(): void {
  for (const signal of withoutMeaning) process.on(signal, () => {})
}

/** A server calls it before anything else: an earlier SIGHUP would end it. */
export function outliveTerminal(): void {
  if (hangUp.isOutlived) return
  hangUp.isOutlived = true
  outliveOtherSignals()
  process.on('SIGHUP', () => {
    if (hangUp.reload === undefined) hangUp.isPending = true
    else hangUp.reload()
  })
}

/** @param reload called on each SIGHUP, and at once if one has already come */
export function reloadOnHangUp(reload: () => void): void {
  hangUp.reload = reload
  if (hangUp.isPending) reload()
  hangUp.isPending = false
}
