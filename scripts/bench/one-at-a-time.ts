/**
 * A load of one connection whose quantiles are those of its requests, each counted once.
 *
 * wrk adds to a slow request those that it would have sent meanwhile (`stats_correct` in its
 * `wrk.c`), so that its quantiles tell of arrivals at a steady rate: a stall of 8 ms among requests
 * of 0.3 ms counts as 26 slow ones.
 * @module
 */
import { createConnection } from 'node:net'
import { once } from 'node:events'
import { requestHeaders, type Load, type LoadGenerator, type LoadRequest } from './load.ts'
import { quantile } from './statistics.ts'

const endOfHead = '\r\n\r\n'

function textOf(host: string, request: LoadRequest): string {
  const { method, path, body = '' } = request
  const headers = { host, ...requestHeaders(request), 'content-length': Buffer.byteLength(body) }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}${endOfHead}${body}`
}

/** True once the text holds an answer whole. @throws when it is no success */
function isWhole(answer: string): boolean {
  const end = answer.indexOf(endOfHead)
  if (end < 0) return false
  if (!answer.startsWith('HTTP/1.1 2')) {
    throw new Error(`the load failed: ${answer.slice(0, answer.indexOf('\r\n'))}`)
  }
  const length = /^content-length: (\d+)\r?$/im.exec(answer.slice(0, end + 1))?.[1]
  return answer.length === end + endOfHead.length + Number(length)
}

async function connect(address: string) {
  const { hostname, port } = new URL(address)
  const socket = createConnection(Number(port), hostname).setEncoding('latin1').setNoDelay()
  await once(socket, 'connect')
  return {
    async ask(request: string): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      let answer = ''
      const hear = (text: string): void => {
        answer += text
        try {
          if (isWhole(answer)) resolve()
        } catch (error) {
          reject(error)
        }
      }
      socket.on('data', hear).once('close', reject)
      socket.write(request)
      await promise.finally(() => socket.off('data', hear).off('close', reject))
    },
    end: () => socket.destroy(),
  }
}

async function run({ address, requests, seconds }: Load) {
  const texts = requests.map(request => textOf(new URL(address).host, request))
  const connection = await connect(address)
  const latenciesMs: number[] = []
  const endMs = performance.now() + 1_000 * seconds
  for (let startMs = performance.now(); startMs < endMs;) {
    await connection.ask(texts[latenciesMs.length % texts.length] ?? '')
    const nowMs = performance.now()
    latenciesMs.push(nowMs - startMs)
    startMs = nowMs
  }
  connection.end()
  return {
    requests: latenciesMs.length,
    perSecond: latenciesMs.length / seconds,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
  }
}

/** Its loads have one connection. */
export const oneAtATime: LoadGenerator = { name: 'one request at a time', run }
