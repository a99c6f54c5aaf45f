/**
 * The graph of latency over the size of the store: plain SVG, readable on light and dark ground.
 *
 * Both axes are logarithmic. Full lines are p99, dotted ones p50.
 * @module
 */
import { countText, type Point } from './scenario.ts'

const width = 720
const height = 400
const frame = { left: 64, right: 150, top: 24, bottom: 48 } as const

/** Distinguishable on both backgrounds, also with impaired colour vision. */
const colours = ['#2f81f7', '#d29922', '#3fb950', '#db61a2', '#8957e5'] as const

const style = `
    text { font: 13px system-ui, sans-serif; fill: #24292f }
    .grid { stroke: #d0d7de; stroke-width: 1 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      .grid { stroke: #30363d }
    }`

interface Scale {
  readonly x: (tokens: number) => number
  readonly y: (ms: number) => number
  readonly ticksMs: readonly number[]
  readonly sizes: readonly number[]
}

/** Returns the powers of ten around the values. */
function ticksAround(values: readonly number[]): number[] {
  const first = Math.floor(Math.log10(Math.min(...values)))
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values))))
  return Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at))
}

function scaleOf(points: readonly Point[]): Scale {
  const sizes = [...new Set(points.map(({ tokens }) => tokens))].toSorted((a, b) => a - b)
  const ticksMs = ticksAround(points.flatMap(({ p50Ms, p99Ms }) => [p50Ms, p99Ms]))
  const share = (value: number, all: readonly number[]): number => {
    const [low, high] = [Math.log10(all[0] ?? 1), Math.log10(all.at(-1) ?? 1)]
    return high === low ? 0.5 : (Math.log10(value) - low) / (high - low)
  }
  const [across, up] = [width - frame.left - frame.right, height - frame.top - frame.bottom]
  return {
    x: tokens => frame.left + share(tokens, sizes) * across,
    y: ms => height - frame.bottom - share(ms, ticksMs) * up,
    ticksMs,
    sizes,
  }
}

const at = (value: number): string => value.toFixed(1)

function grid({ x, y, ticksMs, sizes }: Scale): string[] {
  const right = width - frame.right
  const lines = ticksMs.flatMap(ms => [
    `<line class="grid" x1="${frame.left}" x2="${right}" y1="${at(y(ms))}" y2="${at(y(ms))}"/>`,
    `<text x="${frame.left - 8}" y="${at(y(ms) + 4)}" text-anchor="end">${ms} ms</text>`,
  ])
  const foot = height - frame.bottom + 22
  const labels = sizes.map(
    size => `<text x="${at(x(size))}" y="${foot}" text-anchor="middle">${countText(size)}</text>`,
  )
  const middle = (frame.left + right) / 2
  const title = `<text x="${middle}" y="${height - 8}" text-anchor="middle">tokens stored</text>`
  return [...lines, ...labels, title]
}

const line = (
  { x, y }: Scale,
  points: readonly Point[],
  member: 'p50Ms' | 'p99Ms',
  colour: string,
): string => {
  const places = points.map(point => `${at(x(point.tokens))},${at(y(point[member]))}`).join(' ')
  const dots = member === 'p50Ms' ? ' stroke-dasharray="3 4"' : ''
  return `<polyline points="${places}" fill="none" stroke="${colour}" stroke-width="2"${dots}/>`
}

function seriesLines(scale: Scale, points: readonly Point[]): string[] {
  const names = [...new Set(points.map(({ series }) => series))]
  return names.flatMap((name, index) => {
    const colour = colours[index % colours.length] ?? colours[0]
    const own = points
      .filter(({ series }) => series === name)
      .toSorted((a, b) => a.tokens - b.tokens)
    const [left, top] = [width - frame.right + 16, frame.top + 12 + index * 22]
    return [
      line(scale, own, 'p99Ms', colour),
      line(scale, own, 'p50Ms', colour),
      `<rect x="${left}" y="${top - 9}" width="10" height="10" fill="${colour}"/>`,
      `<text x="${left + 18}" y="${top}">${name}</text>`,
    ]
  })
}

/** @param points at least one; the names of their series are ours and hold no mark-up */
export function drawGraph(points: readonly Point[]): string {
  const scale = scaleOf(points)
  const [left, foot] = [width - frame.right + 16, height - frame.bottom]
  const key = `<text x="${left}" y="${foot - 18}">line: p99</text>
  <text x="${left}" y="${foot}">dots: p50</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">
  <title>Latency over the number of tokens stored</title>
  <style>${style}
  </style>
  ${[...grid(scale), ...seriesLines(scale, points), key].join('\n  ')}
</svg>
`
}
