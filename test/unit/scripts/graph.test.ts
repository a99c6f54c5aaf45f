import { describe, expect, test } from 'bun:test'
import { drawGraph } from '../../../scripts/bench/graph.ts'

const point = (series: string, tokens: number, p99Ms: number) => ({
  series,
  tokens,
  p50Ms: p99Ms / 2,
  p99Ms,
})

describe('the graph', () => {
  const graph = drawGraph([
    point('read', 10_000, 2),
    point('read', 1_000_000, 3),
    point('search', 10_000, 20),
    point('search', 1_000_000, 45),
  ])

  test('has two lines a series, all sizes and the powers of ten around the values', () => {
    expect(graph.match(/<polyline /g)).toHaveLength(4)
    for (const label of ['10 k', '1 M', '1 ms', '100 ms', 'read', 'search']) {
      expect(graph).toContain(`>${label}</text>`)
    }
    expect(graph).not.toContain('>1000 ms</text>')
  })

  test('draws slower higher, within its frame, and nothing that is no number', () => {
    const ends = [...graph.matchAll(/points="[^"]* [\d.]+,([\d.]+)"/g)].map(([, y]) => Number(y))
    const [readP99 = 0, readP50 = 0, searchP99 = 0] = ends
    expect(searchP99).toBeLessThan(readP99)
    expect(readP99).toBeLessThan(readP50)
    expect(Math.min(...ends)).toBeGreaterThan(0)
    expect(graph).not.toContain('NaN')
  })

  test('of one size is drawn too', () => {
    expect(drawGraph([point('read', 10_000, 1)])).not.toContain('NaN')
  })
})
