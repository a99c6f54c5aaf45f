/**
 * SIGHUP: the end of a terminal ends no server, and whoever sends it asks for a look at the files.
 * @module
 */

/** Of this process, as signals are. */
const hangUp: { isOutlived: boolean; isPending: boolean; reload?: () => void } = {
  isOutlived: false,
  isPending: false,
}

/** First of all that a server does: one that comes before is its end. */
export function outliveTerminal(): void {
  if (hangUp.isOutlived) return
  hangUp.isOutlived = true
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
