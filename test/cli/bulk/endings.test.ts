/**
 * Bulk work that somebody ends, or that is overtaken: nothing is left half-done in silence.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { startVault, type TestVault } from '../../../src/testing/index.ts'
import { cofferCommand, runCoffer } from '../../support/coffer-process.ts'
import { temporaryFolder } from '../../support/folders.ts'
import { startTyping } from '../../support/typing.ts'

let vault: TestVault
beforeAll(async () => {
  vault = await startVault()
})
afterAll(() => vault.stop())

const envOf = (addr = vault.address, key = vault.keys.private) => ({
  COFFER_ADDR: addr,
  COFFER_KEY: key,
})

const start = (words: readonly string[], env: Readonly<Record<string, string>>) =>
  Bun.spawn([...cofferCommand, 'token', ...words], {
    env: { ...process.env, ...env },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })

/** Proxy in front of the vault, which is told of each request before it is passed on. */
function startFront(seen: (method: string, path: string) => Promise<unknown>) {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      await seen(request.method, pathname)
      const { method, headers } = request
      const body = method === 'GET' ? {} : { body: await request.text() }
      const answer = await fetch(vault.address + pathname + search, { method, headers, ...body })
      const type = answer.headers.get('content-type')
      return new Response(await answer.text(), {
        status: answer.status,
        headers: {
          'svc-trace-id': answer.headers.get('svc-trace-id') ?? '',
          ...(type === null ? {} : { 'content-type': type }),
        },
      })
    },
  })
  return { address: server.url.origin, [Symbol.asyncDispose]: () => server.stop(true) }
}

/** Ends a process, and waits until it reacts; `text` is its output. */
function makeEnding() {
  const told = { text: '' }
  let child: ReturnType<typeof start> | undefined
  let isSent = false
  const hear = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    for await (const bytes of stream) told.text += Buffer.from(bytes).toString()
  }
  return {
    told,
    end: async (): Promise<void> => {
      if (!isSent) child?.kill('SIGINT')
      isSent = true
      while (!told.text.includes('once more ends it at once')) await Bun.sleep(5)
    },
    /** @returns its exit code */
    run: async (started: ReturnType<typeof start>): Promise<number> => {
      child = started
      const heard = hear(started.stderr)
      const exitCode = await started.exited
      await heard
      return exitCode
    },
  }
}

const total = async (query: string): Promise<number> =>
  (await vault.client().tokens.searchPage({ query, size: 1 })).pagination.total_items

const seed = (kind: string, count: number) =>
  vault.seed(
    Array.from({ length: count }, (_, at) => ({
      type: 'token' as const,
      data: at,
      metadata: { kind },
    })),
  )

describe('an import that is interrupted', () => {
  const rows = Array.from(
    { length: 1_200 },
    (_, at) => `{"type":"token","data":${at},"metadata":{"kind":"in"}}\n`,
  )

  test('ends behind a batch, and goes on with the rest however late', async () => {
    const folder = temporaryFolder()
    const [file, state] = [join(folder, 'rows.jsonl'), join(folder, 'rows.jsonl.import')]
    writeFileSync(file, rows.join(''), { mode: 0o600 })
    const ending = makeEnding()
    const child = start(['import', '-', '--format', 'jsonl', '--state', state], envOf())
    const exit = ending.run(child)
    child.stdin.write(rows.slice(0, 600).join(''))
    await child.stdin.flush()
    while (!existsSync(state) || !readFileSync(state, 'utf8').includes('"line":500,')) {
      await Bun.sleep(5)
    }
    await ending.end()
    child.stdin.write(rows.slice(600).join(''))
    await child.stdin.end()
    expect(await exit).toBe(1)
    expect(ending.told.text).toContain('interrupted behind line 1000: what is in stays in')
    expect(await total('metadata.kind:in')).toBe(1_000)
    const left = JSON.parse(readFileSync(state, 'utf8')) as object
    writeFileSync(state, JSON.stringify({ ...left, writtenMs: 0 }))
    const again = await runCoffer(['token', 'import', file, '--state', state, '--resume'], {
      env: envOf(),
    })
    expect([again.exitCode, again.stdout]).toEqual([
      0,
      '1200 tokens were created.\n0 rows were rejected, 0 were blank.\n',
    ])
    expect(await total('metadata.kind:in')).toBe(1_200)
  })
})

describe('an export', () => {
  const recipient = async () => identityToRecipient(await generateX25519Identity())

  test('that is interrupted leaves no file', async () => {
    await seed('out', 3)
    const folder = temporaryFolder()
    const ending = makeEnding()
    await using front = startFront(async (_, path) => {
      if (path === '/v2/tokens') await ending.end()
    })
    const words = ['export', '--recipient', await recipient(), '--out', join(folder, 'all.age')]
    expect(await ending.run(start(words, envOf(front.address)))).toBe(1)
    expect(ending.told.text).toContain('interrupted: no file was written')
    expect(readdirSync(folder)).toEqual([])
  })

  // proves E32.4
  test.each([
    ['is given other rules', ['mask']],
    ['is given other rules, and then the first ones again,', ['mask', 'reveal']],
  ] as const)('whose key %s meanwhile leaves no file', async (_, transforms) => {
    await seed('out', 3)
    const folder = temporaryFolder()
    const permissions = ['token:read'] as const
    const rule = { description: 'all', priority: 1, container: '/', permissions } as const
    const reader = await vault.application({
      type: 'private',
      rules: [{ ...rule, transform: 'reveal' }],
    })
    const { id } = await reader.client.applications.current()
    await using front = startFront(async (_, path) => {
      if (path !== '/v2/tokens') return
      const { applications } = vault.client('management')
      for (const transform of transforms) {
        await applications.update(id, { name: 'other', rules: [{ ...rule, transform }] })
      }
    })
    const words = ['token', 'export', '--recipient', await recipient()]
    const { exitCode, stderr } = await runCoffer([...words, '--out', join(folder, 'all.age')], {
      env: envOf(front.address, reader.key),
    })
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining('rules of the key were changed'),
    ])
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('a deletion', () => {
  test('that is interrupted has a receipt of what was deleted, and goes on', async () => {
    await seed('away', 30)
    const folder = temporaryFolder()
    const ending = makeEnding()
    await using front = startFront(async method => {
      if (method === 'DELETE') await ending.end()
    })
    const words = ['delete', '--where', 'metadata.kind:away', '--yes', '--receipt']
    const receipt = join(folder, 'receipt')
    expect(await ending.run(start([...words, receipt], envOf(front.address)))).toBe(1)
    const { deleted } = JSON.parse(readFileSync(receipt, 'utf8')) as { deleted: string[] }
    expect(deleted.length).toBeGreaterThan(0)
    expect(await total('metadata.kind:away')).toBe(30 - deleted.length)
    expect(ending.told.text).toContain(`interrupted: ${30 - deleted.length} tokens are left`)
    const rest = await runCoffer(['token', ...words, join(folder, 'rest')], { env: envOf() })
    expect(rest.stdout).toBe(`${30 - deleted.length} tokens were deleted.\n`)
  })

  test('of what is not there says so', async () => {
    const words = ['token', 'delete', '--where', 'metadata.kind:absent']
    const { exitCode, stdout } = await runCoffer(words, { env: envOf() })
    expect([exitCode, stdout]).toEqual([
      0,
      'No token is found that this key may see: nothing was deleted.\n',
    ])
  })

  test('asks at a terminal for the number that it found', async () => {
    await seed('asked', 2)
    const words = ['token', 'delete', '--where', 'metadata.kind:asked']
    const ask = async (typed: string, expected: RegExp): Promise<void> => {
      const env = { ...envOf(), PATH: process.env['PATH'] ?? '' }
      const shell = startTyping([...cofferCommand, ...words], process.cwd(), env)
      await shell.type('', /2 tokens will be deleted for good\. Type 2 to go on: $/)
      await shell.type(typed, expected)
      await shell.stop()
    }
    await ask('yes\r', /coffer: nothing was deleted/)
    expect(await total('metadata.kind:asked')).toBe(2)
    await ask('2\r', /2 tokens were deleted\./)
    expect(await total('metadata.kind:asked')).toBe(0)
  })
})
