/**
 * wrk: the preferred load generator. One thread, since the machine has few cores.
 *
 * Requests are passed in a file, one per line, with a short script that sends them.
 * @module
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runToEnd } from './child.ts'
import {
  assertClean,
  countUnexpected,
  type Load,
  type LoadGenerator,
  type LoadResult,
} from './load.ts'

/** Method, path, key and body, separated by tabs, which none of them contains. */
const linesOf = ({ requests }: Load): string =>
  requests
    .map(({ method, path, key, body }) => `${method}\t${path}\t${key}\t${body ?? ''}\n`)
    .join('')

/** The host is only known once `init` is called, so requests are made there. */
const scriptOf = (file: string): string => `
local requests = {}
function init()
  for line in io.lines(${JSON.stringify(file)}) do
    local method, path, key, body = line:match('^([^\\t]*)\\t([^\\t]*)\\t([^\\t]*)\\t(.*)$')
    local headers = { ['svc-api-key'] = key }
    if body == '' then body = nil else headers['content-type'] = 'application/json' end
    requests[#requests + 1] = wrk.format(method, path, headers, body)
  end
end
local at = 0
function request()
  at = at % #requests + 1
  return requests[at]
end
`

const msOf: Readonly<Record<string, number>> = { us: 1e-3, ms: 1, s: 1e3, m: 60e3, h: 3600e3 }

function captured(text: string, pattern: RegExp, what: string): string {
  const found = pattern.exec(text)?.[1]
  if (found === undefined) throw new Error(`wrk printed no ${what}`)
  return found
}

function latencyMs(text: string, percent: string): number {
  const pattern = new RegExp(`^\\s*${percent}%\\s+([\\d.]+(?:us|ms|s|m|h))\\s*$`, 'm')
  const time = captured(text, pattern, `latency of ${percent} %`)
  const unit = time.replace(/^[\d.]+/, '')
  return Number.parseFloat(time) * (msOf[unit] ?? Number.NaN)
}

function socketErrors(text: string): Record<string, number> {
  const line = /Socket errors: (.*)$/m.exec(text)?.[1] ?? ''
  const counts = [...line.matchAll(/(connect|read|write|timeout) (\d+)/g)]
  return Object.fromEntries(counts.map(([, what, count]) => [`${what} errors`, Number(count)]))
}

/** @throws when an answer was not as expected, or the text is not from `wrk --latency` */
export function parseWrk(text: string, load: Pick<Load, 'isRefused'> = {}): LoadResult {
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(text)?.[1] ?? 0)
  const requests = Number(captured(text, /^\s*(\d+) requests in /m, 'requests'))
  assertClean({ ...socketErrors(text), ...countUnexpected(load, { all: requests, refused }) })
  if (requests === 0) throw new Error('the load failed: no answer came')
  return {
    requests,
    perSecond: Number(captured(text, /^Requests\/sec:\s+([\d.]+)/m, 'rate')),
    p50Ms: latencyMs(text, '50'),
    p99Ms: latencyMs(text, '99'),
  }
}

let runs = 0

/** @param folder  for the files that it reads */
export const wrkIn = (folder: string, version: string): LoadGenerator => ({
  name: version,
  async run(load) {
    runs += 1
    const file = join(folder, `wrk-${runs}.txt`)
    const script = join(folder, `wrk-${runs}.lua`)
    writeFileSync(file, linesOf(load), { mode: 0o600 })
    writeFileSync(script, scriptOf(file))
    const size = ['-t', '1', '-c', String(load.connections), '-d', `${load.seconds}s`]
    try {
      return parseWrk(
        await runToEnd([
          'wrk',
          ...size,
          '--latency',
          '--timeout',
          '30s',
          '-s',
          script,
          load.address,
        ]),
        load,
      )
    } finally {
      for (const path of [file, script]) rmSync(path)
    }
  },
})
