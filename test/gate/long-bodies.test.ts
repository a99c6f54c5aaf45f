/**
 * Bodies that are long enough to be parsed and printed in turns: their answers are those of short
 * ones.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { shortBodyBytesMax, tokenDataBytesMax } from '../../src/limits/limits.ts'
import { namesOf } from '../support/hostile-names.ts'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
let key: string

beforeAll(async () => {
  vault = await openTestVault(171)
  key = await vault.application({
    type: 'private',
    rules: [
      {
        priority: 1,
        container: '/',
        transform: 'reveal',
        permissions: ['token:create', 'token:read'],
      },
    ],
  })
})

const send = (path: string, raw: string | Uint8Array) => vault.ask('POST', path, { key, raw })

const members = namesOf('composed', 3_000).map(name => `${JSON.stringify(name)}:1.0`)
/** Its printed form: numbers as they came, no white space, no needless escape. */
const printed = `{"a/b":"\\u0000\\n",${members.join(',')}}`
const spaced = `{ "a\\/b" : "\\u0000\\u000A" ,\n${members.join(' , ')} }`
const reordered = `{${members.toReversed().join(',')},"a/b":"\\u0000\\n"}`

describe('a long body', () => {
  test('is stored as printed, whatever its white space and escapes', async () => {
    expect(spaced.length).toBeGreaterThan(shortBodyBytesMax)
    const answer = await send('/tokenize', `[{"type":"token","data":${spaced}},1]`)
    const [first] = JSON.parse(answer.text) as [{ id: string }]
    const read = await vault.ask('GET', `/tokens/${first.id}`, { key })
    expect(read.text).toContain(`"data":${printed},`)
  })

  // proves E1.7
  test('has the fingerprint of its value, in whatever order its members come', async () => {
    const fingerprintOf = async (data: string) => {
      const response = await send('/tokens', `{"type":"token","data":${data}}`)
      expect(response.status).toBe(201)
      const { id } = JSON.parse(response.text) as { id: string }
      const read = await vault.ask('GET', `/tokens/${id}`, { key })
      return /"fingerprint":"(\w+)"/.exec(read.text)?.[1]
    }
    const print = await fingerprintOf(printed)
    expect(print).toHaveLength(44)
    expect(await fingerprintOf(reordered)).toBe(print)
    expect(await fingerprintOf(reordered.replace('\\n', '\\t'))).not.toBe(print)
  })

  test('of more data than a token has is refused, and one of just so much is not', async () => {
    const dataOf = (bytes: number) => `["${'x'.repeat(bytes - 4)}"]`
    const body = (bytes: number) => `{"type":"token","data":${dataOf(bytes)}}`
    expect((await send('/tokens', body(tokenDataBytesMax))).status).toBe(201)
    const refused = await send('/tokens', body(tokenDataBytesMax + 1))
    expectProblem(refused, 400, ['data'])
  })

  test('that is not UTF-8, or no JSON, is refused', async () => {
    expectProblem(await send('/tokens', `{"data":${printed}`), 400)
    const long = Buffer.from(`{"type":"token","data":${printed}}`)
    long[long.length - 20] = 0xff
    expectProblem(await send('/tokens', long), 400)
  })
})
