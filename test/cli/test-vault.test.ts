/**
 * The vault of one test as a process: its clock is an open file that is handed to it, and it ends
 * with its stdin.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { closeSync, openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '../../src/client/index.ts'
import { cofferCommand, runCoffer } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'

const refusal = {
  exitCode: 2,
  stdout: '',
  stderr: 'coffer: coffer/testing starts the vaults of tests: nobody else does; see --help\n',
}

describe('coffer test-vault', () => {
  test.each(['', '{', '{}'])('is refused to anyone who has no clock for it: %p', async order => {
    expect(await runCoffer(['test-vault', order])).toMatchObject(refusal)
  })

  test('is no command that is told of', async () => {
    expect((await runCoffer(['--help'])).stdout).not.toContain('test-vault')
  })

  test('has the time that stands in the file, and ends with its stdin', async () => {
    const folder = temporaryFolder()
    const file = openSync(join(folder, 'clock'), 'w+')
    const write = (ms: number) => writeSync(file, new Float64Array([ms]), 0, 8, 0)
    write(0)
    const startAtMs = Date.parse('2030-01-01T00:00:00Z')
    const order = JSON.stringify({ settings: { basePath: '/vault' }, startAtMs, logs: true })
    const child = Bun.spawn([...cofferCommand, 'test-vault', order], {
      env: { ...process.env, TMPDIR: folder, COFFER_PORT: 'of no meaning here' },
      stdio: ['pipe', 'pipe', 'pipe', file],
    })
    const { value } = await child.stdout.getReader().read()
    const [ready = ''] = new TextDecoder().decode(value).split('\n')
    const { address, keys } = JSON.parse(ready) as {
      readonly address: string
      readonly keys: { readonly private: string }
    }
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/vault$/)
    const { tokens } = createClient({ address, key: keys.private })
    const expires_at = '2030-01-02T00:00:00Z'
    const { id, created_at } = await tokens.create({ type: 'token', data: 1, expires_at })
    expect(created_at?.toISOString()).toStartWith('2030-01-01T00:0')
    expect((await tokens.get(id)).data).toBe(1)
    write(86_400_000)
    await expect(tokens.get(id)).rejects.toMatchObject({ code: 'not_found' })
    await child.stdin.end()
    expect(await child.exited).toBe(0)
    expect(await child.stderr.text()).toBe('')
    closeSync(file)
    expect(readdirSync(folder).filter(name => name.startsWith('coffer-'))).toEqual([])
  })
})
