/**
 * Servers that accept from one socket, one after the other.
 * @module
 */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { listenWithTls } from '../../../src/server/listen/listen-tls.ts'
import { selfSigned } from '../../support/certificates.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { shakeHands } from '../../support/tls-server.ts'
import { until } from '../../support/until.ts'

/** What the polls of this process watch. Source: proc(5), `/proc/PID/fdinfo`. */
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

// proves S33
test('a server with new certificates leaves nothing of the one before in the poll', async () => {
  const folder = temporaryFolder()
  const events: string[] = []
  const files = { ...selfSigned(folder, 'one') }
  const options = {
    files,
    isShared: false,
    log: (event: string) => void events.push(event),
    wallMs: () => Date.now(),
  }
  const asked = { host: '127.0.0.1', port: 0 }
  const { address, reload, stop } = await listenWithTls(handlers, asked, options)
  const port = Number(new URL(address).port)
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
