/**
 * Servers that accept from one socket, one after the other.
 * @module
 */
import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { closeSync, readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { listenWithTls } from '../../../src/server/listen/listen-tls.ts'
import { openSocket, type ListeningSocket } from '../../../src/server/listen/listening-sockets.ts'
import { selfSigned } from '../../support/certificates.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { shakeHands } from '../../support/tls-server.ts'
import { until } from '../../support/until.ts'

/** Counts the files that the polls of this process watch. Source: proc(5), `/proc/PID/fdinfo`. */
function watchedFiles(): number {
  let count = 0
  for (const file of readdirSync('/proc/self/fdinfo')) {
    try {
      count += readFileSync(`/proc/self/fdinfo/${file}`, 'latin1').split('tfd:').length - 1
    } catch {
      // It was that of the folder itself.
    }
  }
  return count
}

const isRefused = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', () => resolve(true))
  })

const answer = () => new Response('answered')
const handlers = { routes: {}, fetch: answer, error: answer }

/** Listens with the certificate of a name. */
async function listenAs(name: string, handed?: ListeningSocket) {
  const folder = temporaryFolder()
  const events: string[] = []
  const files = { ...selfSigned(folder, name) }
  const options = {
    files,
    log: (event: string) => void events.push(event),
    wallMs: () => Date.now(),
    handed,
    elapsedMs: () => performance.now(),
  }
  const asked = { host: '127.0.0.1', port: 0 }
  const listening = await listenWithTls(handlers, asked, options)
  return { ...listening, port: Number(new URL(listening.address).port), files, folder, events }
}

// proves S33
test('a server with new certificates leaves nothing of the one before in the poll', async () => {
  const { port, files, folder, events, reload, stop } = await listenAs('one')
  expect((await shakeHands(port)).name).toBe('one')
  const before = watchedFiles()
  for (const name of ['two', 'three', 'four']) {
    Object.assign(files, selfSigned(folder, name))
    await reload?.()
    expect((await shakeHands(port)).name).toBe(name)
  }
  await until(() => watchedFiles() <= before)
  await stop()
  expect(await isRefused(port)).toBe(true)
  expect(events.filter(event => event === 'tls_reloaded')).toHaveLength(3)
})

test('a server with new certificates that ends leaves a handed socket to the next', async () => {
  const kept = openSocket({ host: '127.0.0.1', port: 0 })
  const { port, reload, close, stop, events } = await listenAs('one', kept)
  expect((await shakeHands(port)).name).toBe('one')
  const reloaded = reload?.()
  close?.()
  await reloaded
  await reload?.()
  expect(events).not.toContain('tls_reloaded')
  const waiting = connect(port, '127.0.0.1')
  await once(waiting, 'connect')
  const next = await listenAs('next', kept)
  expect((await shakeHands(port)).name).toBe('next')
  waiting.destroy()
  await Promise.all([stop(), next.stop()])
  closeSync(kept.file)
})
