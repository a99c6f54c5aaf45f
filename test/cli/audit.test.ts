/**
 * `coffer audit`: the log of a folder is shown, exported, and proved; what was done to it is found.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openTables, type LmdbTable } from '../../src/store/lmdb/environment.ts'
import { runCoffer, startCoffer, type Ended } from '../support/coffer-process.ts'
import { faultsIn } from '../support/ocsf/validate.ts'
import { temporaryFolder } from '../support/folders.ts'
import { requestOf } from '../support/vault.ts'
import { until } from '../support/until.ts'

const secret = 'planted-secret-value'

let root: string
let data: string
let vkey: string
let pinned: string
let exported: string

const audit = (what: string, folder: string, ...more: readonly string[]): Promise<Ended> =>
  runCoffer(['audit', what, '--data', folder, ...more])

beforeAll(async () => {
  root = temporaryFolder()
  data = join(root, 'vault')
  const { stdout } = await runCoffer(['init', '--data', data, '--json'])
  const manager = (JSON.parse(stdout) as { key: string }).key
  const server = await startCoffer(['serve', '--data', data, '--port', '0'])
  const address = /http:\S+/.exec(server.ready)?.[0] ?? ''
  const ask = async (method: string, path: string, key: string, body?: unknown) => {
    const { headers, body: sent } = requestOf(method, path, { key, body })
    const answer = await fetch(`${address}${path}`, { method, headers, body: sent })
    return { status: answer.status, text: await answer.text() }
  }
  const permissions = ['token:create', 'token:read', 'token:use', 'token:delete']
  const made = await ask('POST', '/applications', manager, {
    name: secret,
    type: 'private',
    permissions,
  })
  const key = String((JSON.parse(made.text) as { key: string }).key)
  for (let count = 0; count < 12; count += 1) {
    await ask('POST', '/tokens', key, { id: `card-${count}`, type: 'token', data: secret })
    expect((await ask('GET', `/tokens/card-${count}`, key)).status).toBe(200)
  }
  await ask('DELETE', '/tokens/card-0', key)
  await ask('GET', '/tokens/card-0', 'key_of_nobody')
  const entriesBefore = 27
  await until(async () => {
    const { body } = await ask('GET', '/logs/checkpoint', manager).then(({ text }) => ({
      body: JSON.parse(text) as { size?: number; note?: string },
    }))
    if ((body.size ?? 0) < entriesBefore) return false
    pinned = join(root, 'pinned.note')
    writeFileSync(pinned, body.note ?? '')
    return true
  })
  vkey = (await audit('key', data)).stdout.trim()
  await server.end('SIGTERM')
  exported = join(root, 'export.jsonl')
  writeFileSync(exported, (await audit('export', data)).stdout)
})

/** A copy of the folder, changed by a hand that can write the disk and has no key. */
async function copyWith(
  name: string,
  change: (tables: { readonly log: LmdbTable; readonly derived: LmdbTable }) => void,
): Promise<string> {
  const copy = join(root, name)
  cpSync(data, copy, { recursive: true })
  const { root: database, log, derived } = openTables(join(copy, 'store'), ['log', 'derived'])
  if (log === undefined || derived === undefined) throw new Error('a store without a log')
  database.transactionSync(() => change({ log, derived }))
  await database.close()
  return copy
}

describe('coffer audit verify', () => {
  test('finds all as it was signed, by the public key, and says what it cannot know', async () => {
    const { exitCode, stdout, stderr } = await audit('verify', data, '--key', vkey)
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^\d+ entries, \d+ checkpoints: all is as it was signed\n/)
    expect(stdout).toContain('may have been removed together with their checkpoints')
    const told = await audit('verify', data, '--key', vkey, '--pinned', pinned)
    expect(told.exitCode).toBe(0)
    expect(told.stdout).not.toContain('may have been removed')
  })

  test('needs no master key', async () => {
    const copy = join(root, 'without-key')
    cpSync(data, copy, { recursive: true })
    writeFileSync(join(copy, 'master.key'), 'no key')
    expect((await audit('verify', copy, '--key', vkey)).exitCode).toBe(0)
    expect((await audit('export', copy)).exitCode).not.toBe(0)
  })

  test('says of a vault that was never served that nothing is signed yet', async () => {
    const fresh = join(root, 'fresh')
    await runCoffer(['init', '--data', fresh])
    const { exitCode, stderr } = await audit('verify', fresh)
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('nothing is signed yet')])
  })

  test('refuses a key that the log does not name, and a file that is no checkpoint', async () => {
    const other = `${vkey.slice(0, -4)}AAA=`
    expect((await audit('verify', data, '--key', other)).exitCode).not.toBe(0)
    expect((await audit('verify', data, '--key', 'no key')).exitCode).not.toBe(0)
    expect((await audit('verify', data, '--pinned', join(root, 'absent'))).exitCode).toBe(2)
    writeFileSync(join(root, 'no.note'), 'no note')
    const { exitCode, stderr } = await audit('verify', data, '--pinned', join(root, 'no.note'))
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('no checkpoint')])
  })

  // proves S93
  test.each<[string, Parameters<typeof copyWith>[1], string]>([
    [
      'a bundle that was removed',
      ({ log }) => {
        const keys = [...log.getKeys()].map(key => Uint8Array.from(key))
        log.removeSync(keys[5] ?? new Uint8Array())
      },
      'missing',
    ],
    [
      'a bit that was changed in a hash',
      ({ log }) => {
        const [first] = [...log.getKeys()].map(key => Uint8Array.from(key))
        const key = first ?? new Uint8Array()
        const value = Uint8Array.from(log.getBinary(key) ?? [])
        value[10] = (value[10] ?? 0) ^ 1
        log.putSync(key, value)
      },
      'do not give the root',
    ],
    [
      'two bundles that were swapped',
      ({ log }) => {
        const entries = [...log.getKeys()].map(key => {
          const kept = Uint8Array.from(key)
          return { key: kept, value: Uint8Array.from(log.getBinary(kept) ?? []) }
        })
        const single = entries.filter(({ value }) => value[2] === 1)
        const [one, other] = single.slice(-2)
        if (one === undefined || other === undefined) throw new Error('no two bundles')
        log.putSync(one.key, other.value)
        log.putSync(other.key, one.value)
      },
      'do not give the root',
    ],
    [
      'a checkpoint that was changed',
      ({ derived }) => {
        const key = Uint8Array.of(3)
        const note = Buffer.from(derived.getBinary(key) ?? []).toString()
        derived.putSync(key, Buffer.from(note.replace(/\n(\d+)\n/, '\n9$1\n')))
      },
      'wrong',
    ],
    [
      'the last entry before the end, cut off',
      ({ log }) => {
        const last = [...log.getKeys()].map(key => Uint8Array.from(key)).at(-1)
        if (last !== undefined) log.removeSync(last)
      },
      'ends here',
    ],
    [
      'the newest entries, cut off',
      ({ log }) => {
        const keys = [...log.getKeys()].map(key => Uint8Array.from(key))
        for (const key of keys.slice(-3)) log.removeSync(key)
      },
      'ends here',
    ],
  ])('finds %s', async (name, change, says) => {
    const copy = await copyWith(name.replaceAll(/\W/g, '-'), change)
    const { exitCode, stderr } = await audit('verify', copy, '--key', vkey)
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(says)])
    expect(stderr).not.toContain('card-')
  })

  // proves S94
  test('finds by a pinned checkpoint what was cut off together with its checkpoints', async () => {
    const copy = await copyWith('rolled-back', ({ log, derived }) => {
      const keys = [...log.getKeys()].map(key => Uint8Array.from(key))
      for (const key of keys.slice(-20)) log.removeSync(key)
      derived.removeSync(Uint8Array.of(3))
    })
    expect((await audit('verify', copy, '--key', vkey)).exitCode).toBe(0)
    const { exitCode, stderr } = await audit('verify', copy, '--key', vkey, '--pinned', pinned)
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('ends here')])
  })
})

describe('coffer audit export', () => {
  // proves S93
  test('proves itself as a file, and finds what was changed in it', async () => {
    const whole = await runCoffer(['audit', 'verify', '--file', exported, '--key', vkey])
    expect([whole.exitCode, whole.stderr]).toEqual([0, ''])
    const lines = readFileSync(exported, 'utf8').split('\n')
    const changes: readonly (readonly [string, readonly string[]])[] = [
      ['changed', lines.map(line => line.replace('"entity_id":"card-3"', '"entity_id":"card-4"'))],
      ['missing', lines.filter((_, at) => at !== 4)],
      ['doubled', lines.flatMap((line, at) => (at === 4 ? [line, line] : [line]))],
      ['reordered', lines.toSpliced(4, 2, lines[5] ?? '', lines[4] ?? '')],
    ]
    for (const [name, changed] of changes) {
      const file = join(root, `${name}.jsonl`)
      writeFileSync(file, changed.join('\n'))
      const { exitCode, stderr } = await runCoffer(['audit', 'verify', '--file', file])
      expect([name, exitCode, stderr]).toEqual([name, 1, expect.stringMatching(/entr(y|ies)/)])
    }
    const forged = (lines[4] ?? '').replace(/"operation":"\w+"/, '"operation":"forged"')
    const head = (lines[0] ?? '').replace('{', '{"sequence":3,"entry":{"operation":"forged"},')
    const strange: readonly (readonly [string, readonly string[]])[] = [
      ['added with a blank', lines.toSpliced(5, 0, `${forged} `)],
      ['added before the last', lines.toSpliced(-2, 0, ` ${forged}`)],
      ['added to the head', [head, ...lines.slice(1)]],
      // No JSON, for another reader.
      ['a sequence with a zero', lines.map(line => line.replace('{"sequence":', '{"sequence":0'))],
      [
        'without checkpoints',
        lines.map(line => line.replace(/"checkpoints":.*/, '"checkpoints":[]}')),
      ],
      [
        'null for keys',
        lines.map(line => line.replace(/"announcements":.*\],/, '"announcements":[null],')),
      ],
      [
        'numbers for checkpoints',
        lines.map(line => line.replace(/"checkpoints":.*/, '"checkpoints":[5]}')),
      ],
      [
        'checkpoints twice',
        lines.map(line => line.replace('"checkpoints":', '"checkpoints":[],"checkpoints":')),
      ],
      ['a key twice', lines.map(line => line.replace('{"vkey":', '{"vkey":"other","vkey":'))],
    ]
    for (const [name, changed] of strange) {
      const file = join(root, `${name}.jsonl`)
      writeFileSync(file, changed.join('\n'))
      const ended = await runCoffer(['audit', 'verify', '--file', file, '--key', vkey])
      expect([name, ended]).toEqual([
        name,
        {
          exitCode: 1,
          stdout: '',
          stderr: expect.stringMatching(
            /^coffer: .*(?:exported|no whole export|nothing is proved)/,
          ),
        },
      ])
    }
    for (const option of [
      ['--file', '/dev/zero'],
      ['--file', exported, '--pinned', '/dev/zero'],
    ]) {
      const { exitCode, stderr } = await runCoffer(['audit', 'verify', ...option])
      expect([exitCode > 0, stderr.trim().split('\n').length]).toEqual([true, 1])
    }
    const cut = join(root, 'cut.jsonl')
    writeFileSync(cut, lines.slice(0, 8).join('\n'))
    expect((await runCoffer(['audit', 'verify', '--file', cut])).exitCode).toBe(1)
  })

  test('prints events that the published class of OCSF takes', async () => {
    const { stdout } = await audit('export', data, '--format', 'ocsf')
    const events = stdout.trim().split('\n')
    expect(events.length).toBeGreaterThan(8)
    const told = events.map(line => JSON.parse(line) as Readonly<Record<string, unknown>>)
    expect(told.flatMap(faultsIn)).toEqual([])
  })

  test('prints no data, no name and no key, in any format', async () => {
    for (const format of ['jsonl', 'ocsf', 'cef']) {
      const { exitCode, stdout } = await audit('export', data, '--format', format)
      expect(exitCode).toBe(0)
      expect(stdout).toContain('card-3')
      expect(stdout).not.toContain(secret)
      expect(stdout).not.toMatch(/key_[A-Za-z0-9]{10}/)
    }
    expect((await audit('export', data, '--format', 'xml')).exitCode).toBe(2)
  })
})

describe('coffer audit tail', () => {
  test('shows the newest entries, and those about one token', async () => {
    const all = await audit('tail', data, '--lines', '3')
    expect(all.stdout.trim().split('\n')).toHaveLength(3)
    const about = await audit('tail', data, '--id', 'card-0')
    expect(
      about.stdout
        .trim()
        .split('\n')
        .map(line => line.split(' ')[3]),
    ).toEqual(['createToken', 'getToken', 'deleteToken', 'getToken'])
    expect(about.stdout).toContain('401 getToken card-0 unauthenticated: nobody')
    expect((await audit('tail', data, '--id', 'no-such')).stdout).toBe('')
    expect((await audit('tail', data, '--lines', '0')).exitCode).toBe(2)
  })
})

// proves E32.5
test('export prints what is there, and says with 1 what is not', async () => {
  const copy = await copyWith('gap', ({ log }) => {
    const [, second] = log.getKeys()
    if (second !== undefined) log.removeSync(second)
  })
  const { exitCode, stdout, stderr } = await audit('export', copy)
  const sequences = Array.from(stdout.matchAll(/^\{"sequence":(\d+)/gm), ([, each]) => Number(each))
  const next = sequences.findIndex((sequence, at) => sequence !== at)
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining(`entries ${next} to ${Number(sequences[next]) - 1} are not there`),
  ])
})

// proves E32.2
test.each(['tail', 'export'])('%s --follow ends where another file has come', async what => {
  const copy = join(root, `followed-${what}`)
  cpSync(data, copy, { recursive: true })
  const follower = await startCoffer(['audit', what, '--data', copy, '--follow'])
  const compacted = await runCoffer(['compact', '--data', copy])
  expect([compacted.exitCode, await follower.exited]).toEqual([0, 1])
  const entries = (follower.ready + (await follower.stdout)).trim().split('\n')
  const last = /^(?:\{"sequence":)?(\d+)/.exec(entries.at(-1) ?? '')?.[1]
  expect(await follower.stderr).toContain(
    `the store was replaced, as by coffer compact or move; entries up to ${last} were printed`,
  )
})

test('a vault without entries has no key yet, and is verified', async () => {
  const empty = join(root, 'empty')
  mkdirSync(empty)
  await runCoffer(['init', '--data', empty])
  const { exitCode, stderr } = await audit('key', empty)
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('nothing is signed yet')])
  expect((await audit('verify', empty)).exitCode).toBe(1)
})
