/**
 * Sent values are in no refusal, in no header, in no line of the process and in no file: marks in
 * every field of every operation, good and bad, sent to a process of its own; then every byte of
 * its data folder is searched, after `kill -9` and after SIGTERM.
 *
 * Hardening T9, T16 and the invariants I3 and I5; contract section 2.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  encodingsOf,
  encodingsOfBytes,
  filesOf,
  findLeaks,
  type Needles,
} from '../support/leaks/encodings.ts'
import { withoutWarnings } from '../support/coffer-process.ts'
import { hostileOf, type Written } from '../support/leaks/hostile.ts'
import { core, numbers } from '../support/leaks/marks.ts'
import { operations, type Sent } from '../support/leaks/requests.ts'
import {
  openLeakVault,
  readDescribed,
  type Described,
  type LeakVault,
  type Outcome,
} from '../support/leaks/vault.ts'

const atOnce = 8

/** Numbers hold no mark, and no good request has a member that is always refused. */
function takesText(schema: object): boolean {
  const { type, description } = schema as { type?: unknown; description?: string }
  const isNumber = [type].flat().some(each => each === 'integer' || each === 'number')
  return !isNumber && description?.startsWith('Refused') !== true
}

/** Yields the names of a schema's members that hold texts, at any depth. */
function* namesOf(schema: unknown, schemas: Described['schemas']): Generator<string> {
  if (typeof schema !== 'object' || schema === null) return
  const each = schema as Readonly<Record<string, unknown>>
  const reference = /^#\/components\/schemas\/(\w+)$/.exec(String(each['$ref']))?.[1]
  if (reference !== undefined) yield* namesOf(schemas[reference], schemas)
  for (const [name, member] of Object.entries(each['properties'] ?? {})) {
    if (!takesText(member)) continue
    yield name
    yield* namesOf(member, schemas)
  }
  for (const part of ['items', 'anyOf']) {
    for (const member of [each[part]].flat()) yield* namesOf(member, schemas)
  }
}

const isNamedIn = (sent: readonly Sent[], name: string): boolean =>
  sent.some(({ target, body }) =>
    [`[?&]${name}[=.[]`, `"${name}":`].some(pattern =>
      new RegExp(pattern).test(target + JSON.stringify(body)),
    ),
  )

test('every operation is asked with every member, parameter and header that it takes', async () => {
  const vault = await openLeakVault()
  const described = await readDescribed(vault)
  const names = described.operations.map(({ operation }) => operation.operationId)
  expect(names.toSorted()).toEqual(Object.keys(operations).toSorted())
  for (const { at, operation } of described.operations) {
    const sent = (await operations[operation.operationId]?.prepare(vault.world)) ?? []
    const [content] = Object.values(operation.requestBody?.content ?? {})
    const inQuery = operation.parameters.filter(each => each.in === 'query')
    const wanted = [
      ...namesOf(content?.schema, described.schemas),
      ...inQuery.map(each => each.name),
    ]
    expect([at, wanted.filter(name => !isNamedIn(sent, name))]).toEqual([at, []])
    const takesKey = operation.parameters.some(({ name }) => name === 'SVC-IDEMPOTENCY-KEY')
    const hasKey = sent.some(({ headers }) => headers?.['SVC-IDEMPOTENCY-KEY'] !== undefined)
    expect([at, hasKey]).toEqual([at, takesKey])
  }
  await vault.end('SIGTERM')
})

const bare = (text: string): string => text.replaceAll(/\D/g, '')

const needlesOf = ({ data, shownOnce }: LeakVault): Needles => {
  const masterKey = readFileSync(join(data, 'master.key'), 'latin1').trim()
  return new Map([
    ['a mark', encodingsOf(core)],
    ['the master key', encodingsOf(masterKey)],
    ['the bytes of the master key', encodingsOfBytes(Buffer.from(masterKey, 'hex'))],
    ...Object.entries(numbers).map(
      ([name, text]) => [name, [...encodingsOf(text), ...encodingsOf(bare(text))]] as const,
    ),
    ...shownOnce.map((text, at) => [`key ${at}`, encodingsOf(text.replace(/^.*_/, ''))] as const),
  ])
}

/** Returns the part that may hold no mark: all of a refusal, most headers of a success. */
function hiddenPartOf({ answer, text }: Outcome): string {
  if (answer === undefined || answer.status >= 400) return text
  const free = ['location', 'access-control-allow-headers']
  return [...answer.headers].filter(([name]) => !free.includes(name)).join('\n')
}

const faultsOf = (outcome: Outcome, needles: Needles): readonly string[] => {
  const { request, answer, text } = outcome
  const place = `${request.method} ${request.target}, ${request.fault}`
  if (answer !== undefined && answer.status >= 500) return [`${place}: ${text}`]
  return findLeaks([[place, Buffer.from(hiddenPartOf(outcome), 'latin1')]], needles)
}

/** Sends all good requests of an operation, then all bad ones out of the first. */
async function askAll(vault: LeakVault, name: string, needles: Needles) {
  const { prepare, success } = operations[name] ?? {
    prepare: () => Promise.resolve([]),
    success: 0,
  }
  const faults: string[] = []
  let refused = 0
  for (const sent of await prepare(vault.world)) {
    faults.push(...faultsOf(await vault.succeed(sent, success), needles))
  }
  const [first] = await prepare(vault.world)
  if (first === undefined) throw new Error(`no request for ${name}`)
  const queue: Generator<Written> = hostileOf(first, vault.keys)
  const work = async (): Promise<void> => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) {
      const outcome = await vault.ask(next.value)
      faults.push(...faultsOf(outcome, needles))
      if (outcome.answer === undefined || outcome.answer.status >= 400) refused += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return { faults, refused }
}

/** Every file of the folder but the key itself. */
function leaksOnDisk(vault: LeakVault): readonly string[] {
  const files = filesOf(vault.data, ['master.key'])
  expect(files.map(([name]) => name)).toContain('store/data.mdb')
  return findLeaks(files, needlesOf(vault))
}

/** Members of a request that the log may hold, and nothing else. */
const loggedMembers = [
  'time',
  'level',
  'event',
  'trace_id',
  'method',
  'route',
  'operation',
  'status',
  'duration_ms',
  'bytes_in',
  'bytes_out',
  'application_id',
  'session_id',
  'refusal',
  'client_address',
  'key_id',
  'object_id',
  'token_digest',
  'shown',
]

/** Expects a line for each request, without marks and keys. */
function expectCleanLog(vault: LeakVault, logged: string): void {
  // A kill may cut the last line.
  const whole = logged.slice(0, logged.lastIndexOf('\n') + 1)
  const lines = withoutWarnings(whole).trimEnd().split('\n')
  const events = lines.map(line => JSON.parse(line) as Record<string, unknown>)
  // A slow machine takes more than the minute after which a server tells its checkpoint.
  const requests = events.filter(({ event }) => event !== 'audit_checkpoint')
  expect(requests.length).toBeGreaterThan(50)
  const shapes = new Set(requests.flatMap(line => [String(line['event']), ...Object.keys(line)]))
  expect([...shapes].filter(name => ![...loggedMembers, 'request'].includes(name))).toEqual([])
  const routes = new Set(requests.map(({ route }) => String(route)))
  expect([...routes].filter(route => !/^(?:null|(?:\/:?[a-zA-Z0-9.-]+)+)$/.test(route))).toEqual([])
  expect(findLeaks([['the log', Buffer.from(logged)]], needlesOf(vault))).toEqual([])
}

/** Ends the process and looks at all that it leaves behind. */
async function expectNothingLeft(vault: LeakVault, signal: NodeJS.Signals): Promise<number> {
  const { exitCode, written, logged } = await vault.end(signal)
  expect(written).toMatch(/^Coffer listens on [^\n]+\n$/)
  expectCleanLog(vault, logged)
  expect(leaksOnDisk(vault)).toEqual([])
  return exitCode
}

describe('a process that was sent marks in every field of every operation', () => {
  // proves S1, S2, S4
  test('shows them in no refusal and header, and leaves them in no line and file', async () => {
    const vault = await openLeakVault()
    const needles = needlesOf(vault)
    // Before the first is signed there is no checkpoint to ask for.
    await vault.world.signedEntry()
    for (const name of Object.keys(operations)) {
      const { faults, refused } = await askAll(vault, name, needles)
      expect([name, faults]).toEqual([name, []])
      expect(refused).toBeGreaterThan(15)
    }
    expect(await expectNothingLeft(vault, 'SIGKILL')).not.toBe(0)
    await vault.start()
    for (const { prepare, success } of Object.values(operations)) {
      for (const sent of await prepare(vault.world)) await vault.succeed(sent, success)
    }
    expect(await expectNothingLeft(vault, 'SIGTERM')).toBe(0)
  }, 300_000)
})

describe('the search for marks', () => {
  const found = (text: string | Buffer): boolean =>
    findLeaks([['here', Buffer.from(text)]], new Map([['a mark', encodingsOf(core)]])).length > 0

  test.each([
    ['as it is', core],
    ['in upper case', core.toUpperCase()],
    ['back to front', [...core].reverse().join('')],
    ['in UTF-16', Buffer.from(core, 'utf16le')],
    ['in UTF-16 of the other order', Buffer.from(core, 'utf16le').swap16()],
    ['in hex', Buffer.from(`ab${core}`).toString('hex')],
    ['in upper-case hex', Buffer.from(core).toString('hex').toUpperCase()],
    ['in base64', Buffer.from(core).toString('base64')],
    ['in base64 behind one byte', Buffer.from(`a${core}b`).toString('base64')],
    ['in base64 behind two bytes', Buffer.from(`ab${core}`).toString('base64url')],
  ])('finds one %s, among other bytes', (_, text) => {
    expect(found(Buffer.concat([Buffer.from('before '), Buffer.from(text)]))).toBe(true)
  })

  test('finds nothing where there is none', () => {
    expect(found(`${core.slice(0, -1)} ${Buffer.from('another text').toString('base64')}`)).toBe(
      false,
    )
  })

  test('finds a card number as a machine holds numbers', () => {
    const number = '4242424242424242'
    const integer = Buffer.alloc(8)
    integer.writeBigUInt64BE(BigInt(number))
    const needles: Needles = new Map([['a number', encodingsOf(number)]])
    for (const bytes of [integer, Buffer.from(number, 'hex'), Buffer.from(number)]) {
      expect(findLeaks([['here', bytes]], needles)).toHaveLength(1)
    }
  })
})
