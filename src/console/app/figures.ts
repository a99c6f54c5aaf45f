/**
 * Numbers as people read them.
 * @module
 */

const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB']

export function printBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const shown = bytes / 1_000 ** power
  return `${shown.toFixed(power === 0 || shown >= 100 ? 0 : 1)} ${units[power]}`
}

export const printCount = (count: number): string => Math.round(count).toLocaleString('en')

export const printRate = (perSecond: number): string =>
  `${perSecond < 10 ? perSecond.toFixed(1) : printCount(perSecond)}/s`

export const printMs = (ms: number): string =>
  ms < 1_000 ? `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms` : `${(ms / 1_000).toFixed(1)} s`

const steps = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const

/** Such as `3 d`, in the largest unit of which there are two. */
export function printSpan(seconds: number): string {
  const [size, unit] = steps.find(([each]) => seconds >= 2 * each) ?? [1, 's']
  return `${Math.floor(seconds / size)} ${unit}`
}
