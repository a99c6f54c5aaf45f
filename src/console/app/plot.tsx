/**
 * A plot over time: lines of an SVG, the newest numbers beside them, and a sentence that says the
 * same to those who do not see it.
 * @module
 */
import { printSpan } from './figures.ts'
import { plotHeight, plotWidth } from './limits.ts'

export interface Series {
  readonly name: string
  /** Class of its colour. */
  readonly tone: 'good' | 'caution' | 'wrong' | 'accent'
  /** One for each sample; `undefined` where it is not known. */
  readonly values: readonly (number | undefined)[]
}

interface PlotProps {
  readonly title: string
  readonly series: readonly Series[]
  readonly print: (value: number) => string
  /** Time from the first sample to the last, in seconds. */
  readonly seconds: number
}

const known = (values: Series['values']): number[] => values.filter(value => value !== undefined)

const highestOf = (series: readonly Series[]): number =>
  Math.max(0, ...series.flatMap(({ values }) => known(values)))

/** Makes the place of a sample, from nothing up. @param high more than 0 */
function placing({ length }: Series['values'], high: number) {
  const step = length > 1 ? plotWidth / (length - 1) : 0
  return (at: number, value: number): string =>
    `${(at * step).toFixed(1)} ${(plotHeight - (value / high) * plotHeight).toFixed(1)}`
}

/** Steps of a path; a gap begins a new line. */
function pathOf(values: Series['values'], high: number): string {
  const placeOf = placing(values, high)
  const steps: string[] = []
  let isDrawn = false
  for (const [at, value] of values.entries()) {
    if (value !== undefined) {
      steps.push(`${isDrawn ? 'L' : 'M'}${placeOf(at, value)}`)
    }
    isDrawn = value !== undefined
  }
  // One sample is a line of its level.
  return values.length === 1 && isDrawn ? `${steps.join('')}H${plotWidth}` : steps.join('')
}

/** Samples between two gaps, which no line shows: each is a line of no length with round ends. */
function dotsOf(values: Series['values'], high: number): string {
  const placeOf = placing(values, high)
  const dots = Array.from(values, (value, at) => {
    const isAlone = values[at - 1] === undefined && values[at + 1] === undefined
    return value === undefined || !isAlone ? '' : `M${placeOf(at, value)}h0`
  })
  return values.length === 1 ? '' : dots.join('')
}

const last = (values: Series['values'], print: PlotProps['print']): string => {
  const newest = known(values).at(-1)
  return newest === undefined ? 'none' : print(newest)
}

function sentenceOf({ title, series, print, seconds }: PlotProps): string {
  const told = series.map(({ name, values }) => {
    const all = known(values)
    if (all.length === 0) return `${name}: nothing known`
    const between = `${print(Math.min(...all))} to ${print(Math.max(...all))}`
    return `${name}: now ${last(values, print)}, between ${between}`
  })
  return `${title} in the last ${printSpan(seconds)}. ${told.join('; ')}.`
}

export function Plot(props: PlotProps) {
  const { title, series, print, seconds } = props
  const highest = highestOf(series)
  return (
    <figure class="plot">
      <figcaption>{title}</figcaption>
      <ul class="legend">
        {series.map(({ name, tone, values }) => (
          <li key={name} class={tone}>
            <span class="swatch" aria-hidden="true" />
            {name} <strong>{last(values, print)}</strong>
          </li>
        ))}
      </ul>
      <svg
        role="img"
        aria-label={sentenceOf(props)}
        viewBox={`0 -3 ${plotWidth} ${plotHeight + 6}`}
        preserveAspectRatio="none"
      >
        <path class="base" d={`M0 ${plotHeight}H${plotWidth}`} />
        {series.map(({ name, tone, values }) => (
          <g key={name} class={tone}>
            <path d={pathOf(values, highest || 1)} />
            <path class="dots" d={dotsOf(values, highest || 1)} />
          </g>
        ))}
      </svg>
      <p class="range" aria-hidden="true">
        <span>{printSpan(seconds)} ago</span>
        <span>up to {print(highest)}</span>
        <span>now</span>
      </p>
    </figure>
  )
}
