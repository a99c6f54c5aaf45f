import { describe, expect, test } from 'bun:test'
import { parseWrk } from '../../../scripts/bench/wrk.ts'

const text = (...lines: readonly string[]): string =>
  ['Running 1s test @ http://127.0.0.1:46121/', '  1 threads and 8 connections', ...lines].join(
    '\n',
  )

const fast = text(
  '  Thread Stats   Avg      Stdev     Max   +/- Stdev',
  '    Latency     1.02ms    2.86ms  27.30ms   92.60%',
  '    Req/Sec    66.69k    36.85k  103.72k    50.00%',
  '  Latency Distribution',
  '     50%   80.00us',
  '     75%  281.00us',
  '     90%    2.86ms',
  '     99%   15.81ms',
  '  66243 requests in 1.00s, 7.39MB read',
  'Requests/sec:  66013.80',
  'Transfer/sec:      7.37MB',
)

const slow = text(
  '  Thread Stats   Avg      Stdev     Max   +/- Stdev',
  '    Latency     1.21s     5.33ms   1.21s   100.00%',
  '    Req/Sec     2.50      0.71     3.00    100.00%',
  '  Latency Distribution',
  '     50%    1.21s ',
  '     75%    1.21s ',
  '     90%    1.21s ',
  '     99%    1.21s ',
  '  8 requests in 3.03s, 0.91KB read',
  'Requests/sec:      2.64',
  'Transfer/sec:     308.43B',
)

const end = ['Requests/sec:  66013.80', 'Transfer/sec:      7.37MB']
const refused = fast.replace(
  end.join('\n'),
  ['  Non-2xx or 3xx responses: 42979', ...end].join('\n'),
)
const timedOut = fast.replace(
  end.join('\n'),
  ['  Socket errors: connect 0, read 0, write 0, timeout 8', ...end].join('\n'),
)

describe('the output of wrk', () => {
  test('gives requests, rate and latencies, whatever their unit', () => {
    expect(parseWrk(fast)).toEqual({
      requests: 66_243,
      perSecond: 66_013.8,
      p50Ms: 0.08,
      p99Ms: 15.81,
    })
    expect(parseWrk(slow)).toEqual({ requests: 8, perSecond: 2.64, p50Ms: 1_210, p99Ms: 1_210 })
  })

  test('is refused where the server has refused, or a connection failed', () => {
    expect(() => parseWrk(refused)).toThrow('42979 answers that are no success')
    const allRefused = refused.replace('42979', '66243')
    expect(parseWrk(allRefused, { isRefused: true }).requests).toBe(66_243)
    expect(() => parseWrk(refused, { isRefused: true })).toThrow('23264 answers that are no')
    expect(() => parseWrk(fast, { isRefused: true })).toThrow('66243 answers that are no refusal')
    expect(() => parseWrk(timedOut)).toThrow('8 timeout errors')
  })

  test('is refused where no answer came, and where there is no latency', () => {
    expect(() => parseWrk(fast.replace('66243 requests', '0 requests'))).toThrow('no answer')
    expect(() => parseWrk(fast.replace('     99%   15.81ms\n', ''))).toThrow('latency of 99 %')
    expect(() => parseWrk('unable to connect to 127.0.0.1:1 Connection refused')).toThrow('no req')
  })
})
