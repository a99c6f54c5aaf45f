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

/** Steps of a path from nothing up; a gap begins a new line. @param high more than 0 */
function pathOf(values: Series['values'], high: number): string {
  const step = values.length > 1 ? plotWidth / (values.length - 1) : 0
  const steps: string[] = []
  let isDrawn = false
  for (const [at, value] of values.entries()) {
    if (value !== undefined) {
      const x = (at * step).toFixed(1)
      const y = (plotHeight - (value / high) * plotHeight).toFixed(1)
      // A line of no length is a dot, with its round ends.
      const isAlone = !isDrawn && values[at + 1] === undefined
      steps.push(`${isDrawn ? 'L' : 'M'}${x} ${y}${isAlone ? 'h0' : ''}`)
    }
    isDrawn = value !== undefined
  }
  // One sample is a line of its level.
  return values.length === 1 && isDrawn ? `${steps.join('')}H${plotWidth}` : steps.join('')
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
          <path key={name} class={tone} d={pathOf(values, highest || 1)} />
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
