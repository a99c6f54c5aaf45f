/**
 * Commands beside a server that does not answer any more.
 * @module
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCoffer, startCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

test('status, doctor and what asks for a proof end in a bounded time, and name it', async () => {
  const data = join(temporaryFolder(), 'vault')
  await runCoffer(['init', '--data', data])
  const server = await startCoffer(['serve', '--data', data, '--port', '0'])
  process.kill(server.pid, 'SIGSTOP')
  const run = (...words: string[]) => runCoffer([...words, '--data', data])
  const says = new RegExp(
    `^coffer: the running server .*process ${server.pid}.* has not answered in 8 s: [^\n]+\n$`,
  )
  try {
    const [status, apps, doctor] = await Promise.all([
      run('status'),
      run('app', 'list'),
      run('doctor'),
    ])
    for (const ended of [status, apps]) {
      expect([ended.exitCode, ended.stdout, ended.stderr]).toEqual([
        1,
        '',
        expect.stringMatching(says),
      ])
    }
    expect(doctor.exitCode).toBe(0)
    expect(doctor.stdout).toContain('no address is tried')
  } finally {
    process.kill(server.pid, 'SIGCONT')
  }
  expect((await run('status')).exitCode).toBe(0)
  await server.end('SIGTERM')
})
