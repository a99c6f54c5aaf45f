/**
 * The OpenAPI document: valid, whole, and true. Its examples are sent to a vault, and the answers
 * are checked against it. Source: contract section 3.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { buildApp } from '../../src/server/listen/app.ts'
import { offeredPermissions } from '../../src/rules/permissions.ts'
import { tokenTypeNames } from '../../src/rules/token-types.ts'
import { idempotencyKeyCharsMax, traceIdCharsMax } from '../../src/limits/limits.ts'
import {
  checkerOf,
  operationsOf,
  readDocument,
  type Check,
  type Media,
  type OpenApiDocument,
  type Placed,
} from '../support/openapi.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
let document: OpenApiDocument
let operations: readonly Placed[]
let check: Check

beforeAll(async () => {
  vault = await openTestVault(111)
  document = await readDocument(vault)
  operations = operationsOf(document)
  check = checkerOf(document, false)
})

const valuesOf = ({ example, examples = {} }: Media): unknown[] =>
  example === undefined ? Object.values(examples).map(({ value }) => value) : [example]

describe('the document', () => {
  test.each(['CreateTokenRequest', 'UpdateTokenRequest'])(
    'has no data that is null, in %s, and the vault takes none',
    async title => {
      const { schemas } = document.components as {
        readonly schemas: Readonly<Record<string, { readonly properties: object }>>
      }
      expect(schemas[title]?.properties).toMatchObject({ data: { not: { type: 'null' } } })
      const key = await vault.application({ type: 'public', permissions: ['token:create'] })
      const body = { type: 'token', data: null }
      expect((await vault.ask('POST', '/tokens', { key, body })).status).toBe(400)
      expect((await vault.ask('POST', '/tokens', { key, body: { ...body, data: 0 } })).status).toBe(
        201,
      )
    },
  )

  test('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(JSON.parse(JSON.stringify(document)))
    expect([result.valid, result.errors]).toEqual([true, undefined])
    expect(document.openapi).toBe('3.1.0')
    const broken = { ...document, paths: { tokens: {} } }
    expect((await new Validator().validate(broken)).valid).toBe(false)
  })

  test('has every operation that the application answers, and no other', async () => {
    const { listener } = buildApp(vault.deps)
    const addresses = Object.keys(listener.routes).filter(
      path => !/\/$|^\/(?:swagger|elements|console)/.test(path),
    )
    const paths = addresses.map(path => path.replaceAll(/:(\w+)/g, '{$1}'))
    expect(Object.keys(document.paths).toSorted()).toEqual(paths.toSorted())
    const told = operations.map(({ at }) => at)
    for (const path of paths) {
      const { headers } = await vault.ask('OPTIONS', path.replace('{id}', 'some-id'))
      const allowed = (headers.get('allow') ?? '').split(', ').filter(name => name !== 'OPTIONS')
      for (const at of told.filter(each => each.endsWith(` ${path}`))) {
        expect(allowed).toContain(at.split(' ')[0] ?? '')
      }
      for (const method of allowed.filter(name => name !== 'HEAD')) {
        // A method that the address itself does not have is the one of `/tokens/{id}` there.
        const owners = [path, path.replace(/\/(?:key|search|authorize)$/, '/{id}')]
        expect(owners.some(owner => told.includes(`${method} ${owner}`))).toBe(true)
      }
    }
  })

  test('names each operation once, in a group that it knows', () => {
    const names = operations.map(({ operation }) => operation.operationId)
    expect(new Set(names).size).toBe(names.length)
    const groups = document.tags.map(({ name }) => name)
    for (const { operation } of operations) {
      expect(groups).toContain(operation.tags[0] ?? '')
      expect(operation.operationId).toMatch(/^[a-z][A-Za-z]+$/)
      expect(operation.summary).not.toBe('')
    }
  })

  test('shows an example of every body, parameter, answer and error', () => {
    for (const { at, operation } of operations) {
      const success = Object.entries(operation.responses).filter(([status]) => status < '300')
      const media = [operation.requestBody, ...success.map(([, answer]) => answer)].flatMap(
        described => Object.values(described?.content ?? {}),
      )
      for (const each of media) expect([at, valuesOf(each).length > 0]).toEqual([at, true])
      for (const { name, example } of operation.parameters) {
        const isUnsent = ['SVC-IDEMPOTENCY-KEY', 'SVC-REASON'].includes(name)
        expect([at, name, example === undefined]).toEqual([at, name, isUnsent])
      }
    }
    for (const { content = {} } of Object.values(document.components.responses)) {
      for (const each of Object.values(content)) expect(valuesOf(each)).not.toEqual([])
    }
  })

  // proves E12.7
  test('E12.7: shows nothing that the page would send and its reader does not mean', () => {
    let keys = 0
    for (const { operation } of operations) {
      const requests = Object.values(operation.requestBody?.content ?? {})
      expect(JSON.stringify(requests.map(valuesOf))).not.toContain('deduplicate_token')
      for (const { name, ...parameter } of operation.parameters) {
        if (name !== 'SVC-IDEMPOTENCY-KEY') continue
        keys += 1
        expect(Object.keys(parameter)).not.toContain('example')
        expect(JSON.stringify(parameter)).not.toMatch(/"(?:examples?|default)":/)
      }
    }
    expect(keys).toBeGreaterThan(3)
  })

  test('has no example that its schema refuses', () => {
    for (const { method, path, operation } of operations) {
      const at = ['paths', path, method.toLowerCase()]
      for (const [type, media] of Object.entries(operation.requestBody?.content ?? {})) {
        for (const value of valuesOf(media)) {
          expect(check(value, ...at, 'requestBody', 'content', type, 'schema')).toEqual([])
        }
      }
      for (const [index, { example }] of operation.parameters.entries()) {
        if (example === undefined) continue
        expect(check(example, ...at, 'parameters', String(index), 'schema')).toEqual([])
      }
      for (const [status, { content = {} }] of Object.entries(operation.responses)) {
        for (const [type, media] of Object.entries(content)) {
          const place = [...at, 'responses', status, 'content', type, 'schema']
          for (const value of valuesOf(media)) expect(check(value, ...place)).toEqual([])
        }
      }
    }
    for (const [name, { content = {} }] of Object.entries(document.components.responses)) {
      for (const [type, media] of Object.entries(content)) {
        const place = ['components', 'responses', name, 'content', type, 'schema']
        for (const value of valuesOf(media)) expect(check(value, ...place)).toEqual([])
        expect(check({ status: 'canary' }, ...place)).not.toEqual([])
      }
    }
  })
})

describe('the document is for generated clients', () => {
  // proves C3.3
  test('no name of a component is one that a Go client makes of another', () => {
    const names = Object.keys(document.components.schemas)
    const made = names.flatMap(name => [
      `New${name}`,
      `New${name}WithDefaults`,
      `Nullable${name}`,
      `NewNullable${name}`,
    ])
    expect(names.filter(name => made.includes(name))).toEqual([])
    expect(names).toContain('CreateApplicationRequest')
    const folded = names.map(name => name.toLowerCase())
    expect(new Set(folded).size).toBe(names.length)
  })

  // proves C3.3
  test('it says whose it is', () => {
    for (const each of [document.info['license'], document.info['contact']]) {
      expect(Object.entries(each ?? {})[0]).toEqual(['name', expect.stringMatching(/./)])
    }
  })

  // proves C3.3
  test('headers are bounded and enums told as the server holds them', () => {
    const header = (at: string, name: string) =>
      operations
        .find(each => each.at === at)
        ?.operation.parameters.find(each => each.name === name)?.['schema']
    const visible = { type: 'string', minLength: 1, pattern: '^[!-~]+$' }
    expect(header('GET /tokens', 'SVC-TRACE-ID')).toEqual({
      ...visible,
      maxLength: traceIdCharsMax,
    })
    expect(header('POST /tokens', 'SVC-IDEMPOTENCY-KEY')).toEqual({
      ...visible,
      maxLength: idempotencyKeyCharsMax,
    })
    const { schemas } = document.components
    const typeOf = (name: string) => schemas[name]?.properties['type']
    for (const name of ['Token', 'CreateTokenRequest']) {
      expect(typeOf(name)).toEqual({ $ref: '#/components/schemas/TokenType' })
    }
    expect(schemas['TokenType']).toMatchObject({ enum: [...tokenTypeNames] })
    expect(typeOf('Permission')).toEqual({ $ref: '#/components/schemas/PermissionName' })
    expect(schemas['PermissionName']).toMatchObject({ enum: [...offeredPermissions] })
  })
})

/** Contract section 3, row by row. */
const declared: readonly (readonly [string, string])[] = [
  ['POST /tokens', '201 400 401 403 409 413'],
  ['GET /tokens', '200 400 401 403'],
  ['POST /tokens/search', '200 400 401 403'],
  ['GET /tokens/{id}', '200 401 403 404'],
  ['PATCH /tokens/{id}', '200 400 401 403 404 409 415'],
  ['DELETE /tokens/{id}', '204 401 403 404'],
  ['POST /tokenize', '200 400 401 403 409'],
  ['POST /detokenize', '200 400 401 403 409'],
  ['POST /sessions', '201 401 403'],
  ['POST /sessions/authorize', '200 400 401 403 404 409'],
  ['GET /sessions', '200 400 401 403'],
  ['DELETE /sessions/{id}', '204 401 403 404'],
  ['POST /applications', '201 400 401 403'],
  ['GET /applications', '200 401 403 404'],
  ['GET /applications/{id}', '200 401 403 404'],
  ['GET /applications/key', '200 401 403 404'],
  ['PUT /applications/{id}', '200 400 401 403 404'],
  ['POST /applications/{id}/regenerate', '200 401 403 404'],
  ['DELETE /applications/{id}', '204 401 403 404'],
]

describe('the statuses of the contract are declared', () => {
  // proves C3.2
  test.each(declared)('for %s: %s', (at, statuses) => {
    const responses = operations.find(each => each.at === at)?.operation.responses ?? {}
    const told = Object.keys(responses)
    expect(told).toEqual(expect.arrayContaining(statuses.split(' ')))
    expect(told.filter(status => status < '300')).toHaveLength(1)
    expect(told).toContain('default')
    if ('204' in responses) expect(responses['204']?.content).toBeUndefined()
  })
})
