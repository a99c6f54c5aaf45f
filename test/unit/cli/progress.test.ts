import { describe, expect, test } from 'bun:test'
import { makeMeter } from '../../../src/cli/show-progress.ts'
import { progressDrawMs, progressLineMs } from '../../../src/limits/operation-limits.ts'

function open(isTerminal: boolean) {
  const written: string[] = []
  const clock = { ms: 0 }
  const write = (text: string) => void written.push(text)
  const meter = makeMeter({ isTerminal, write }, () => clock.ms)
  return { written, clock, meter }
}

/** Works through a total, as long as a step takes so much. */
function work({ clock, meter }: ReturnType<typeof open>, total: number, stepMs: number): void {
  const done = meter.progress(total, 'copying')
  for (let at = 1; at <= total; at += 1) {
    clock.ms += stepMs
    done(at)
  }
  meter.end()
}

describe('progress where nobody sees a terminal', () => {
  test('is a line at each tenth, and one at the end', () => {
    const opened = open(false)
    work(opened, 1_000, progressLineMs)
    const tenths = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
    expect(opened.written).toEqual(tenths.map(tenth => `copying: ${tenth} %\n`))
  })

  test('is no more than a line a second', () => {
    const opened = open(false)
    work(opened, 1_000, progressLineMs / 400)
    expect(opened.written).toEqual(['copying: 40 %\n', 'copying: 80 %\n', 'copying: 100 %\n'])
  })

  test('is one line of what is done at once, or has nothing to do', () => {
    const opened = open(false)
    work(opened, 1_000, 0)
    work(opened, 0, 0)
    expect(opened.written).toEqual(['copying: 100 %\n', 'copying: 100 %\n'])
  })

  test('ends what was before when the next begins, and says nothing of none', () => {
    const { written, meter } = open(false)
    meter.end()
    meter.progress(10, 'copying')
    meter.progress(10, 'comparing')(20)
    meter.end()
    meter.end()
    expect(written).toEqual(['copying: 100 %\n', 'comparing: 100 %\n'])
  })
})

describe('progress on a terminal', () => {
  test('is a bar that is drawn anew in its place, and is gone at the end', () => {
    const opened = open(true)
    work(opened, 100, progressDrawMs)
    const { written } = opened
    expect(written).toHaveLength(101)
    expect(written[0]).toBe(`\rcopying    [${'-'.repeat(40)}]   0 %`)
    expect(written[50]).toBe(`\rcopying    [${'#'.repeat(20)}${'-'.repeat(20)}]  50 %`)
    expect(written.at(-1)).toBe('\r\u001b[K')
  })

  test('is drawn no more than ten times a second', () => {
    const opened = open(true)
    work(opened, 10_000, progressDrawMs / 1_000)
    expect(opened.written.length).toBeLessThanOrEqual(12)
  })
})
