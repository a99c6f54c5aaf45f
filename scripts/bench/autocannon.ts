/**
 * autocannon: the load generator if wrk is not installed.
 *
 * Run by the package runner, since nothing else needs it. It is a single JavaScript thread and
 * slower than the server: its figures only compare with each other.
 * @module
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runToEnd } from './child.ts'
import {
  assertClean,
  countUnexpected,
  requestHeaders,
  type Load,
  type LoadGenerator,
} from './load.ts'

const version = '8.0.0'
/** Each connection prepares all of them before it sends the first. */
const requestsMax = 100
const command = ['npx', '--yes', `autocannon@${version}`]

interface Printed {
  readonly latency: { readonly p50: number; readonly p99: number }
  readonly requests: { readonly total: number }
  readonly duration: number
  readonly errors: number
  readonly timeouts: number
  readonly non2xx: number
}

/** Requests as an HTTP archive, the only form in which it takes many of them. */
const archiveOf = ({ address, requests }: Load): string => {
  const entries = requests.slice(0, requestsMax).map(request => {
    const headers = Object.entries(requestHeaders(request)).map(([name, value]) => ({
      name,
      value,
    }))
    const { method, path, body } = request
    const postData = body === undefined ? {} : { postData: { text: body } }
    return { request: { method, url: address + path, headers, ...postData } }
  })
  return JSON.stringify({ log: { entries } })
}

export const autocannonIn = (folder: string): LoadGenerator => ({
  name: `autocannon ${version}`,
  async run(load) {
    const archive = join(folder, 'autocannon.har')
    writeFileSync(archive, archiveOf(load), { mode: 0o600 })
    const size = ['-c', String(load.connections), '-d', String(load.seconds), '-t', '30']
    const words = [...size, '--json', '--no-progress', '--har', archive, load.address]
    try {
      const printed = JSON.parse(await runToEnd([...command, ...words])) as Printed
      const { latency, requests, duration, errors, timeouts, non2xx } = printed
      const unexpected = countUnexpected(load, { all: requests.total, refused: non2xx })
      assertClean({ errors, timeouts, ...unexpected })
      return {
        requests: requests.total,
        perSecond: requests.total / duration,
        p50Ms: latency.p50,
        p99Ms: latency.p99,
      }
    } finally {
      rmSync(archive)
    }
  },
})
