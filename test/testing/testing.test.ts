/**
 * A vault inside `bun test`.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startVault } from '../../src/testing/index.ts'
import { temporaryFolder } from '../support/folders.ts'

const root = resolve(import.meta.dir, '../..')
const card = { type: 'card', data: { number: '4242424242424242' } } as const

const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'done',
    (error: { code?: unknown }) => error.code,
  )

describe('a vault', () => {
  test('has its base path with a slash at its end, too, as one that is served', async () => {
    await using vault = await startVault({ settings: { basePath: '/vault/' } })
    expect(vault.address).toEndWith('/vault')
    expect(await codeOf(vault.client().tokens.create(card))).toBe('done')
  })

  test('has a key of each kind, which may what its kind may', async () => {
    await using vault = await startVault()
    const { id } = await vault.client('public').tokens.create(card)
    expect((await vault.client().tokens.get(id)).data).toEqual(card.data)
    expect(await codeOf(vault.client('public').tokens.get(id))).toBe('forbidden')
    expect(await codeOf(vault.client('management').tokens.get(id))).toBe('forbidden')
    expect((await vault.client('management').tenant.get()).id).toBe(vault.tenantId)
    const raw = { headers: { 'SVC-API-KEY': vault.keys.private } }
    expect((await fetch(`${vault.address}/tokens/${id}`, raw)).status).toBe(200)
    expect((await fetch(`${vault.address}/tokens/${id}`)).status).toBe(401)
  })

  test('has more applications and sessions, with the rights that they are given', async () => {
    await using vault = await startVault()
    const [id = ''] = await vault.seed([card])
    const desk = await vault.application({ type: 'private', permissions: ['token:read'] })
    const masked = { number: 'XXXXXXXXXXXX4242' }
    expect((await desk.client.tokens.get(id)).data).toMatchObject(masked)
    const session = await vault.session({ permissions: ['token:read'] })
    expect((await session.tokens.get(id)).data).toMatchObject(masked)
    expect(await codeOf(session.tokens.delete(id))).toBe('forbidden')
  })

  test('is seeded with any number of tokens, in order', async () => {
    await using vault = await startVault()
    const tokens = Array.from({ length: 1_001 }, (_, at) => ({
      type: 'token' as const,
      id: `token-${at}`,
      data: at,
    }))
    expect(await vault.seed(tokens)).toEqual(tokens.map(({ id }) => id))
    expect((await vault.client().tokens.get('token-1000')).data).toBe(1_000)
  })

  test('has the settings that it is given', async () => {
    await using vault = await startVault({ settings: { basePath: '/vault' } })
    expect(vault.address).toEndWith('/vault')
    expect(await vault.client().tokens.listPage()).toMatchObject({ data: [] })
  })

  test('is over when it is stopped, once and twice', async () => {
    const vault = await startVault()
    const client = vault.client('private', { retries: 0 })
    await vault.stop()
    await vault.stop()
    expect(await codeOf(client.tokens.get('a'))).toBe('unreachable')
  })
})

describe('its clock', () => {
  test('makes tokens and sessions expire when the test says so', async () => {
    await using vault = await startVault({ startAt: new Date('2030-01-01T00:00:00Z') })
    const expires_at = '2030-01-01T01:00:00Z'
    const [id = ''] = await vault.seed([{ type: 'token', data: 1, expires_at }])
    const session = await vault.session({ permissions: ['token:read'] })
    vault.clock.advance('2m')
    expect((await session.tokens.get(id)).expires_at).toEqual(new Date(expires_at))
    vault.clock.advance('1m')
    expect(await codeOf(session.tokens.get(id))).toBe('unauthenticated')
    expect(await codeOf(vault.client().tokens.get(id))).toBe('done')
    vault.clock.advance('57m')
    expect(await codeOf(vault.client().tokens.get(id))).toBe('not_found')
    expect(vault.clock.now().toISOString()).toStartWith('2030-01-01T01:00')
  })

  test('fills budgets that are of a minute', async () => {
    await using vault = await startVault({ settings: { searchGuessesPerMinuteMax: 1 } })
    const permissions = ['token:search'] as const
    const { client } = await vault.application({ type: 'private', permissions })
    const search = () => codeOf(client.tokens.searchPage({ query: 'data:a' }, { retries: 0 }))
    expect([await search(), await search()]).toEqual(['done', 'too_many_requests'])
    vault.clock.advance('60s')
    expect(await search()).toBe('done')
  })

  test.each(['', '3', '3 m', '-1s', 'm', '1y', -1, Number.NaN])('does not jump by %p', length => {
    return startVault().then(async vault => {
      const before = vault.clock.now().getTime()
      expect(() => vault.clock.advance(length)).toThrow('expected a length such as')
      expect(vault.clock.now().getTime() - before).toBeLessThan(60_000)
      await vault.stop()
    })
  })

  test('begins at no date that is none', () => {
    const started = startVault({ startAt: new Date('the 1st') })
    return expect(started).rejects.toThrow('expected startAt to be a date')
  })

  test('jumps by milliseconds, seconds, minutes, hours and days', async () => {
    await using vault = await startVault({ startAt: new Date('2030-01-01T00:00:00Z') })
    for (const length of ['500ms', 500, '59s', '59m', '23h', '30d']) vault.clock.advance(length)
    expect(vault.clock.now().toISOString()).toStartWith('2030-02-01T00:00:0')
  })
})

test('one is there soon, as the printed figure says', async () => {
  const tookMs: number[] = []
  for (let count = 0; count < 11; count += 1) {
    const startMs = performance.now()
    await using vault = await startVault()
    expect((await fetch(`${vault.address}/tokens`)).status).toBe(401)
    tookMs.push(performance.now() - startMs)
  }
  const [median = 0] = tookMs.toSorted((a, b) => a - b).slice(5)
  console.info(`startVault: ${tookMs[0]?.toFixed(0)} ms first, ${median.toFixed(0)} ms median`)
})

test('fifty of them at once do not disturb one another', async () => {
  const vaults = await Promise.all(Array.from({ length: 50 }, () => startVault()))
  try {
    const ids = await Promise.all(
      vaults.map(async (vault, at) => {
        const [id = ''] = await vault.seed([{ type: 'token', id: 'same', data: at }])
        if (at % 2 === 0) vault.clock.advance('1h')
        return id
      }),
    )
    const seen = vaults.map(
      async (vault, at) => (await vault.client().tokens.get(ids[at] ?? '')).data,
    )
    expect(await Promise.all(seen)).toEqual(vaults.map((_, at) => at))
    const [first, second] = vaults
    const stranger = first?.client().tokens.list() ?? []
    for await (const { id } of stranger) expect(id).toBe('same')
    const foreign = { headers: { 'SVC-API-KEY': second?.keys.private ?? '' } }
    expect((await fetch(`${first?.address}/tokens/same`, foreign)).status).toBe(401)
    const leads = vaults.map(vault => vault.clock.now().getTime() - Date.now() > 3_000_000)
    expect(leads).toEqual(vaults.map((_, at) => at % 2 === 0))
  } finally {
    await Promise.all(vaults.map(vault => vault.stop()))
  }
})

describe('nothing is left', () => {
  const entry = join(root, 'src/testing/index.ts')
  const run = async (place: string, words: readonly string[]) => {
    const child = Bun.spawn([process.execPath, ...words], {
      cwd: place,
      env: { ...process.env, TMPDIR: place },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [, errors] = await Promise.all([child.stdout.text(), child.stderr.text()])
    return { exitCode: await child.exited, errors }
  }
  const left = (place: string) => readdirSync(place).filter(name => name.startsWith('coffer-'))

  test('by a test that fails before it stops its vault', async () => {
    const place = temporaryFolder()
    const text = `import { test } from 'bun:test'
      import { startVault } from ${JSON.stringify(entry)}
      test('fails', async () => {
        const vault = await startVault()
        await vault.client().tokens.get('absent')
      })
      test('fails, too', async () => {
        await using vault = await startVault()
        await vault.client().tokens.get('absent')
      })`
    writeFileSync(join(place, 'fails.test.ts'), text)
    const { exitCode, errors } = await run(place, ['test', '--timeout=300000', 'fails.test.ts'])
    expect(exitCode).toBe(1)
    expect(errors).toContain('There is no such token, or none that this key may see.')
    expect(left(place)).toEqual([])
  })

  test('by one that is killed', async () => {
    const place = temporaryFolder()
    const text = `import { startVault } from ${JSON.stringify(entry)}
      const vault = await startVault()
      await vault.seed([{ type: 'token', data: 1 }])
      process.kill(process.pid, 'SIGKILL')`
    writeFileSync(join(place, 'killed.ts'), text)
    expect((await run(place, ['killed.ts'])).exitCode).not.toBe(0)
    expect(left(place)).toEqual([])
  })

  test('by a program that stops its vault: it ends at once, as no timer keeps it', async () => {
    const place = temporaryFolder()
    const text = `import { startVault } from ${JSON.stringify(entry)}
      const vault = await startVault()
      await vault.seed([{ type: 'token', data: 1 }])
      await vault.stop()
      const stopped = performance.now()
      process.on('exit', () => console.error('kept for', Math.round(performance.now() - stopped)))`
    writeFileSync(join(place, 'stops.ts'), text)
    const { errors } = await run(place, ['stops.ts'])
    expect(Number(/^kept for (\d+)$/m.exec(errors)?.[1])).toBeLessThan(30_000)
  })
})

test('a vault whose files are gone takes and sweeps as any other', async () => {
  await using vault = await startVault()
  const soon = new Date(vault.clock.now().getTime() + 60_000).toISOString()
  const tokens = Array.from({ length: 6_000 }, (_, at) => ({
    type: 'token' as const,
    data: 'x'.repeat(2_000),
    ...(at % 2 === 0 ? { expires_at: soon } : {}),
  }))
  await vault.seed(tokens)
  const total = async () => (await vault.client().tokens.listPage()).pagination.total_items
  expect(await total()).toBe(6_000)
  vault.clock.advance('2m')
  expect(await total()).toBe(3_000)
  await vault.seed(tokens.slice(0, 10).map(token => ({ ...token, expires_at: null })))
  expect(await total()).toBe(3_010)
})
