/**
 * Names of the backups that a server makes: `coffer-20261124T215500Z.backup`, with its start time.
 *
 * Files with other names are neither read nor removed.
 * @module
 */

const pattern = /^coffer-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/

/** @param instantMs Unix time */
export function backupNameOf(instantMs: number): string {
  const [instant = ''] = new Date(instantMs).toISOString().split('.')
  return `coffer-${instant.replaceAll(/[-:]/g, '')}Z.backup`
}

/** @returns Unix time in milliseconds; `undefined` for any other name */
export function backupInstantOf(name: string): number | undefined {
  const [, year, month, day, hour, minute, second] = pattern.exec(name) ?? []
  const instantMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(instantMs) ? undefined : instantMs
}

interface Named {
  readonly name: string
  readonly instantMs: number
}

const namedOf = (names: readonly string[]): readonly Named[] =>
  names.flatMap(name => {
    const instantMs = backupInstantOf(name)
    return instantMs === undefined ? [] : [{ name, instantMs }]
  })

/**
 * Returns the time of the newest backup, Unix time in milliseconds. One dated in the future was
 * made with a wrong clock, so its real time is unknown.
 */
export function newestInstantOf(names: readonly string[], nowMs: number): number | undefined {
  const past = namedOf(names).filter(({ instantMs }) => instantMs <= nowMs)
  return past.length === 0 ? undefined : Math.max(...past.map(({ instantMs }) => instantMs))
}

/** Returns the names beyond `keep`: those dated in the future first, then the oldest. */
export function surplusOf(
  names: readonly string[],
  keep: number,
  nowMs: number,
): readonly string[] {
  const ageOf = ({ instantMs }: Named): number => (instantMs > nowMs ? Infinity : nowMs - instantMs)
  const named = [...namedOf(names)].sort((a, b) => ageOf(a) - ageOf(b) || 0)
  return named.slice(keep).map(({ name }) => name)
}
