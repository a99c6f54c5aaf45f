/**
 * Names and texts that collide in every table of the engine, whatever its seed, where a caller may
 * send them: they cost what ordinary ones cost, and are ordinary in every other way.
 *
 * The cost is the processor time of both, the least of some tries, and the bound is wide: colliding
 * names made it a hundred times as much.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { jsonMembersMax } from '../../src/limits/limits.ts'
import { namesOf, printObjects, type NameKind } from '../support/hostile-names.ts'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const ratioMax = 10
const triesOfEach = 3

let vault: TestVault
let key: string
let masked: string
let revealing: string

const permissions = ['token:create', 'token:read', 'token:update', 'token:search', 'token:use']

beforeAll(async () => {
  vault = await openTestVault(170)
  key = await vault.application({ type: 'private', permissions })
  const reader = (transform: string) =>
    vault.application({
      type: 'private',
      rules: [{ priority: 1, container: '/', transform, permissions: ['token:read'] }],
    })
  masked = await reader('mask')
  revealing = await reader('reveal')
})

/** Bodies are texts, and answers small: parsing such names here would cost as much as there. */
const ask = (method: string, path: string, raw?: string, by = key) =>
  vault.ask(method, path, { key: by, ...(raw === undefined ? {} : { raw }) })

async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Expects that hostile names cost about what ordinary ones cost. */
async function expectAlike(work: (kind: NameKind) => Promise<unknown>): Promise<void> {
  const leastOf = async (kind: NameKind) => {
    let least = Infinity
    for (let count = 0; count < triesOfEach; count += 1) {
      least = Math.min(least, await cpuOf(() => work(kind)))
    }
    return least
  }
  const ordinary = await leastOf('ordinary')
  expect((await leastOf('colliding')) / ordinary).toBeLessThan(ratioMax)
}

const expectStatus = async (status: number, asked: ReturnType<typeof ask>) =>
  expect((await asked).status).toBe(status)

const dataOf = (kind: NameKind) => printObjects(kind, jsonMembersMax, 450_000)

const membersOf = (kind: NameKind, count: number): string =>
  namesOf(kind, count)
    .map(name => `${JSON.stringify(name)}:1`)
    .join(',')

const create = (data: string, more = '') =>
  expectStatus(201, ask('POST', '/tokens', `{"type":"token","data":${data}${more}}`))

describe('hostile names cost no more than ordinary ones', () => {
  // proves E1.2
  test('in the data of a create', () => expectAlike(kind => create(dataOf(kind))))

  // proves E1.2
  test('as values', () => expectAlike(kind => create(JSON.stringify(namesOf(kind, 15_000)))))

  // proves E1.2
  test('as members that no schema knows, at any depth', () =>
    expectAlike(kind => {
      const unknown = membersOf(kind, jsonMembersMax - 10)
      const body = `{${unknown},"type":"token","data":1,"containers":${dataOf(kind)}}`
      return expectStatus(400, ask('POST', '/tokens', body))
    }))

  // proves E1.2
  test('in a merge patch, on data of many', async () => {
    await create(`{${membersOf('colliding', 3_000)},"x":1}`, ',"id":"patched"')
    await expectAlike(kind => {
      const patch = `{"data":{${membersOf(kind, 3_000)}}}`
      return expectStatus(200, ask('PATCH', '/tokens/patched', patch))
    })
  })

  // proves E1.3, S61
  test('in a masked read, by members, JSONPath and uniq', async () => {
    const mask = JSON.stringify({
      a: '{{ data.o.x }}',
      b: "{{ data.o | json: '$.x' }}",
      c: '{{ data.l | uniq | size }}',
    })
    for (const kind of ['ordinary', 'colliding'] as const) {
      const list = JSON.stringify(namesOf(kind, 2_000))
      const data = `{"o":{${membersOf(kind, 9_000)},"x":7},"l":${list}}`
      await create(data, `,"id":"read-${kind}","mask":${mask}`)
    }
    await expectAlike(async kind => {
      const { status, body } = await ask('GET', `/tokens/read-${kind}`, undefined, masked)
      expect([status, body['data']]).toEqual([200, { a: 7, b: 7, c: 2_000 }])
    })
  })

  // proves E1.4
  test('as ids of a bulk, made and used', async () => {
    let from = 0
    await expectAlike(async kind => {
      const ids = namesOf(kind, from + 900).slice(from)
      from += 900
      const made = ids.map(id => ({ id, type: 'token', data: id }))
      await expectStatus(200, ask('POST', '/tokenize', JSON.stringify(made)))
      const used = JSON.stringify(ids.map(id => `{{ ${id} }}`))
      const { status, text } = await ask('POST', '/detokenize', used)
      expect([status, text]).toEqual([200, JSON.stringify(ids)])
    })
  })

  // proves E1.4
  test('in a search', () =>
    expectAlike(kind => {
      const clauses = namesOf(kind, 60).map(name => `id:"${name}"`)
      const body = JSON.stringify({ query: clauses.join(' OR ') })
      return expectStatus(200, ask('POST', '/tokens/search', body))
    }))

  // proves E1.4
  test('in a query string', () =>
    expectAlike(kind => {
      const names = namesOf(kind, 100).map(name => `${encodeURIComponent(name)}=1`)
      return expectStatus(400, ask('GET', `/tokens?${names.join('&')}`))
    }))
})

describe('hostile names are ordinary in every other way', () => {
  test('data of many members comes back as it came', async () => {
    const data = `{${membersOf('colliding', 3_000)},"__proto__":{"toString":1}}`
    await create(data, ',"id":"whole"')
    const { text } = await ask('GET', '/tokens/whole', undefined, revealing)
    expect(text.includes(`"data":${data}`)).toBe(true)
  })

  // proves C16.2, E1.5
  test('an object of more than 10,000 members is refused, and nothing of it is told', async () => {
    const data = `{${membersOf('ordinary', jsonMembersMax)},"canary":1}`
    const answer = await ask('POST', '/tokens', `{"type":"token","data":${data}}`)
    expectProblem(answer, 400)
    expect(answer.text).toContain(`at most ${jsonMembersMax} members`)
  })
})
