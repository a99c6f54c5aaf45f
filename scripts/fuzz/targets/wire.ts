/**
 * Bytes to a listening process: after any input it goes on serving, and shows no mark in a refusal.
 *
 * An input is the text written to one connection, line ends as `\n`; at the separator the client
 * disconnects. Another process cannot be watched, so chance alone guides.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCoffer, startCoffer } from '../../../test/support/coffer-process.ts'
import { core, mark } from '../../../test/support/leaks/marks.ts'
import { operations } from '../../../test/support/leaks/requests.ts'
import type { Target } from '../engine.ts'
import { assert, separator } from '../invariants.ts'

/** Gives up on a server that waits for more. */
const silenceMs = 100

const folder = mkdtempSync(join(tmpdir(), 'coffer-fuzz-'))
const data = join(folder, 'data')
const unix = join(folder, 'socket')
const made = await runCoffer(['init', '--data', data, '--json'])
const { key } = JSON.parse(made.stdout) as { key: string }
const server = await startCoffer(['serve', '--data', data, '--socket', unix])
let ended: number | undefined
void server.exited.then(code => (ended = code))
process.on('exit', () => {
  if (ended === undefined) process.kill(server.pid, 'SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** @returns all bytes until the other side closed, or fell silent */
function exchange(bytes: Buffer, leaves: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    let timer: Timer | undefined
    const finish = () => {
      clearTimeout(timer)
      resolve(text)
    }
    Bun.connect({
      unix,
      socket: {
        open(socket) {
          socket.write(bytes)
          if (leaves) {
            socket.terminate()
            finish()
          } else {
            timer = setTimeout(() => {
              socket.terminate()
              finish()
            }, silenceMs)
          }
        },
        data(socket, chunk) {
          text += chunk.toString('latin1')
          clearTimeout(timer)
          // The rest of an answer comes at once.
          timer = setTimeout(() => {
            socket.terminate()
            finish()
          }, 2)
        },
        close: finish,
        error: finish,
      },
    }).catch(reject)
  })
}

const traceLine = /^svc-trace-id: (.*)\r$/gim

async function run(input: string): Promise<void> {
  const at = input.indexOf(separator)
  const sent = at < 0 ? input : input.slice(0, at)
  const bytes = Buffer.from(sent.replaceAll('$key', key).replaceAll('\n', '\r\n'))
  let text = await exchange(bytes, at >= 0)
  assert(ended === undefined, 'the process goes on')
  assert(!/^HTTP\/1\.1 5(?!05)/m.test(text), 'no answer is a 5xx')
  for (const [, trace = ''] of text.matchAll(traceLine)) {
    if (trace !== '')
      text = text.replaceAll(trace, '').replaceAll(JSON.stringify(trace).slice(1, -1), '')
  }
  const refusals = text.split(/^(?=HTTP\/1\.1 )/m).filter(each => /^HTTP\/1\.1 [45]/.test(each))
  assert(!refusals.join('').toLowerCase().includes(core), 'a refusal shows no mark')
}

const world = {
  token: () => Promise.resolve(mark()),
  application: () => Promise.resolve(mark()),
  applicationKey: () => Promise.resolve({ application: mark(), key: mark() }),
  nonce: () => Promise.resolve(mark()),
  session: () => Promise.resolve(mark()),
  signedEntry: () => Promise.resolve(0),
  webhook: () => Promise.resolve(mark()),
  delivery: () => Promise.resolve({ webhook: mark(), sequence: 0 }),
}

async function seedsOf(): Promise<string[]> {
  const seeds: string[] = []
  for (const { prepare } of Object.values(operations)) {
    for (const { method, target, body } of await prepare(world)) {
      const text = body === undefined ? '' : JSON.stringify(body)
      const head = `${method} ${target} HTTP/1.1\nHost: vault\nSVC-API-KEY: $key\n`
      const type = `Content-Type: application/json\nContent-Length: ${Buffer.byteLength(text)}\n`
      seeds.push(`${head}${text === '' ? '' : type}\n${text}`)
      seeds.push(`${head}${type}\n${text.slice(0, 20)}${separator}`)
    }
  }
  return seeds
}

export const target: Target = {
  seeds: await seedsOf(),
  dictionary: [
    '\n',
    '\n\n',
    ' HTTP/1.1',
    'Host: vault\n',
    'SVC-API-KEY: $key\n',
    'Content-Length: 0\n',
    'Transfer-Encoding: chunked\n',
    '0\n\n',
    '5\nhello\n',
    'ffffffff\n',
    'Connection: close\n',
    'Connection: keep-alive\n',
    'Expect: 100-continue\n',
    'Upgrade: websocket\n',
    'GET ',
    'POST ',
    '/applications',
    '/tokens',
    separator,
    core,
    ':',
    ' ',
    '	',
    '\0',
    '%',
    '"',
    '{',
    '}',
    'SVC-IDEMPOTENCY-KEY: a\n',
    'SVC-TRACE-ID: a\n',
    'SVC-REASON: a\n',
    'Content-Encoding: gzip\n',
    'GET / HTTP/1.1\n\n',
  ],
  charsMax: 4_000,
  run,
  async end() {
    assert((await server.end('SIGTERM')) === 0, 'the process ends in order')
    assert((await server.stderr) === '', 'it has logged nothing')
  },
}
