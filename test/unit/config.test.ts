/**
 * Settings: which of two counts, and refusals. Source: docs/decisions.md, "Settings".
 * @module
 */
import { describe, expect, test } from 'bun:test'
import {
  addressOptions,
  decodeConfig,
  settingOptions,
  vaultChoicesOf,
  type SettingTexts,
} from '../../src/settings/config.ts'
import { defaultLogSettings } from '../../src/settings/serving-settings.ts'
import { defaultSettings, type Settings } from '../../src/settings/settings.ts'
import { canary, expectRefusal } from '../support/refusal.ts'

const fileOfText = (text: string) => ({ path: '/etc/c.json', bytes: Buffer.from(text) })
const fileOf = (members: unknown) => fileOfText(JSON.stringify(members))

const decodedBy = (texts: SettingTexts, members?: unknown): Settings =>
  decodeConfig(texts, members === undefined ? undefined : fileOf(members)).settings

/** Expects one line that names the place, and repeats nothing. */
function expectOneLine(run: () => unknown, says: string): void {
  const error = expectRefusal(run, [])
  expect(error.message).toStartWith(says)
  expect(error.message).not.toContain('\n')
}

const witness = 'w.example+2a7cba2c+BK4vS1zK@https://w.example/a'
const origins = ['https://a.example', 'http://b:81']

/** Every setting, as texts, as members of the file, and their meaning. */
const samples: {
  readonly [K in keyof Settings]: readonly [text: string, member: unknown, meaning: Settings[K]]
} = {
  keyHeaders: ['BT-API-KEY, x-key', ['BT-API-KEY', 'x-key'], ['bt-api-key', 'x-key']],
  headerPrefix: ['BT, x-shop', ['BT', 'x-shop'], ['bt', 'x-shop']],
  basePath: ['/vault/v1.0/', '/vault/v1.0/', '/vault/v1.0'],
  corsOrigins: [origins.join(), origins, origins],
  bodyBytesMax: ['2048', 2048, 2048],
  bodiesBytesMax: ['2000000', 2_000_000, 2_000_000],
  credentialBodiesBytesMax: ['1000000', 1_000_000, 1_000_000],
  requestsPerSecondMax: ['100', 100, 100],
  requestsPerSecondPerAddress: ['50', 50, 50],
  trustedProxies: ['10.0.0.0/8, ::1', ['10.0.0.0/8', '::1'], ['10.0.0.0/8', '::1']],
  egressAllow: ['10.1.0.0/16, fd00::1', ['10.1.0.0/16', 'fd00::1'], ['10.1.0.0/16', 'fd00::1']],
  searchGuessesPerMinuteMax: ['0', 0, 0],
  createGuessesPerMinuteMax: ['12', 12, 12],
  lookupGuessesPerMinuteMax: ['13', 13, 13],
  chosenIdsPerMinuteMax: ['14', 14, 14],
  foldRows: ['500', 500, 500],
  auditReads: ['durable', 'durable', 'durable'],
  auditDays: ['30', 30, 30],
  auditBytesMax: ['100000000', 100_000_000, 100_000_000],
  auditWitnesses: [witness, [witness], [witness]],
  documentationPage: ['false', false, false],
  consolePage: ['false', false, false],
  cvcLifetime: ['1h', '1h', '1h'],
  cardNumberGuard: ['false', false, false],
  maskGuard: ['false', false, false],
  newRevealsMax: ['0', 0, 0],
  strictMasks: ['false', false, false],
  tenantWideDeduplication: ['true', true, true],
  sessionGrantsWithinAuthorizer: ['true', true, true],
}

const snakeOf = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

describe('every setting', () => {
  test.each(Object.entries(samples))('%s is read from a text and from the file', (name, sample) => {
    const [text, member, meaning] = sample
    const expected = { ...defaultSettings, [name]: meaning }
    expect(decodedBy({ [name]: text })).toEqual(expected)
    expect(decodedBy({}, { [snakeOf(name)]: member })).toEqual(expected)
  })

  test.each(Object.entries(samples))('%s of a text stands before the file', (name, [text]) => {
    const members = { [snakeOf(name)]: samplesOfFile[name as keyof Settings] }
    expect(decodedBy({}, members)).not.toEqual(decodedBy({ [name]: text }))
    expect(decodedBy({ [name]: text }, members)).toEqual(decodedBy({ [name]: text }))
  })

  test('has its default where nobody says anything', () => {
    expect(decodedBy({})).toEqual(defaultSettings)
    expect(decodedBy({}, {})).toEqual(defaultSettings)
  })

  test('has an option and a variable of its own name', () => {
    const options = [...addressOptions, ...settingOptions]
    expect(settingOptions.length).toBe(Object.keys(defaultSettings).length)
    for (const { flag, variable } of options) {
      expect(flag).toMatch(/^--[a-z-]+$/)
      expect(variable).toBe(`COFFER_${flag.slice(2).replaceAll('-', '_').toUpperCase()}`)
    }
  })

  test('is frozen', () => {
    const { settings } = decodeConfig({ keyHeaders: 'x-key' })
    expect(Object.isFrozen(settings)).toBe(true)
    expect(Object.isFrozen(settings.keyHeaders) && Object.isFrozen(settings.corsOrigins)).toBe(true)
  })
})

/** Other values than the ones of `samples`. */
const samplesOfFile: { readonly [K in keyof Settings]: unknown } = {
  keyHeaders: ['x-other'],
  headerPrefix: ['x-other'],
  basePath: '/other',
  corsOrigins: ['https://other.example'],
  bodyBytesMax: 4096,
  bodiesBytesMax: 4_000_000,
  credentialBodiesBytesMax: 3_000_000,
  requestsPerSecondMax: 7,
  requestsPerSecondPerAddress: 6,
  trustedProxies: ['192.0.2.1'],
  egressAllow: ['192.0.2.2'],
  searchGuessesPerMinuteMax: 8,
  createGuessesPerMinuteMax: 9,
  lookupGuessesPerMinuteMax: 10,
  chosenIdsPerMinuteMax: 11,
  foldRows: 700,
  auditReads: 'buffered',
  auditDays: 90,
  auditWitnesses: [`${witness}/b`],
  auditBytesMax: 200_000_000,
  documentationPage: true,
  consolePage: true,
  cvcLifetime: 'never',
  cardNumberGuard: true,
  maskGuard: true,
  newRevealsMax: 5,
  strictMasks: true,
  tenantWideDeduplication: false,
  sessionGrantsWithinAuthorizer: false,
}

describe('a value that cannot be is refused', () => {
  test.each([
    ['headerPrefix', 'two words'],
    ['headerPrefix', 'svc'],
    ['headerPrefix', 'content'],
    ['headerPrefix', 'bt-'],
    ['headerPrefix', 'a,b,c,d,e'],
    ['keyHeaders', 'two words'],
    ['keyHeaders', `${canary}:`],
    ['keyHeaders', 'svc-trace-id'],
    ['keyHeaders', 'cookie'],
    ['keyHeaders', 'host'],
    ['keyHeaders', 'SVC-API-KEY'],
    ['keyHeaders', 'proxy-\u212a'],
    ['headerPrefix', 'b\u212a'],
    ['keyHeaders', 'a,b,c,d,e,f,g,h,i'],
    ['basePath', 'vault'],
    ['basePath', '//vault'],
    ['basePath', '/vault//'],
    ['basePath', '/../vault'],
    ['basePath', '/:id'],
    ['basePath', '/*'],
    ['basePath', '/va ult'],
    ['basePath', `/${'a'.repeat(1_001)}`],
    ['corsOrigins', 'shop.example'],
    ['corsOrigins', 'https://shop.example/'],
    ['corsOrigins', 'https://*.shop.example'],
    ['corsOrigins', 'https://*.shop.example/path'],
    ['corsOrigins', 'HTTPS://SHOP.example'],
    ['corsOrigins', 'null'],
    ['bodyBytesMax', '0'],
    ['bodyBytesMax', '1e6'],
    ['bodyBytesMax', '99999999999'],
    ['bodyBytesMax', canary],
    ['requestsPerSecondMax', '0'],
    ['requestsPerSecondMax', '1.5'],
    ['requestsPerSecondPerAddress', '0'],
    ['trustedProxies', '10.0.0.0/33'],
    ['trustedProxies', '::/129'],
    ['trustedProxies', '10.0.0.0/8/8'],
    ['trustedProxies', 'fe80::1%eth0'],
    ['trustedProxies', 'proxy.example'],
    ['egressAllow', '10.0.0.0/33'],
    ['egressAllow', 'hooks.example'],
    ['egressAllow', '::ffff:0:0/96'],
    ['auditWitnesses', witness.replace('https', 'http')],
    ['auditWitnesses', 'https://witness.example'],
    ['auditWitnesses', canary],
    ['searchGuessesPerMinuteMax', '-1'],
    ['createGuessesPerMinuteMax', canary],
    ['cardNumberGuard', 'yes'],
    ['strictMasks', ''],
    ['tenantWideDeduplication', '1'],
    ['maskGuard', 'TRUE'],
    ['host', ''],
    ['socket', ''],
    ['port', '65536'],
    ['port', '-1'],
    ['port', 'tcp://10.0.0.1:3333'],
  ])('%s as the text %p', (name, text) => {
    expectOneLine(() => decodeConfig({ [name]: text }), '--')
  })

  test.each([
    ['port', '3333'],
    ['port', 1.5],
    ['body_bytes_max', '2048'],
    ['body_bytes_max', null],
    ['cors_origins', 'https://a.example'],
    ['cors_origins', [canary]],
    ['cors_origins', [1]],
    ['key_headers', { a: canary }],
    ['base_path', 7],
    ['base_path', null],
    ['key_headers', [null]],
    ['key_headers', [7]],
    ['header_prefix', [null]],
    ['cors_origins', [null]],
    ['host', null],
    ['mask_guard', 'false'],
    ['strict_masks', 1],
    ['socket', null],
  ])('%s in the file as %p', (name, member) => {
    expectOneLine(() => decodeConfig({}, fileOf({ [name]: member })), `/etc/c.json:1: ${name}:`)
  })
})

describe('a list with an entry that is none', () => {
  test.each([
    ['keyHeaders', `x-a, x-b, svc-${canary}`, '--key-headers', 3],
    ['headerPrefix', `${canary} ${canary}`, '--header-prefix', 1],
    ['corsOrigins', `https://a.example,${canary},https://b.example`, '--cors-origins', 2],
  ])('%s is refused by its place: %p', (name, text, flag, place) => {
    const { message } = expectRefusal(() => decodeConfig({ [name]: text }), [])
    expect(message).toStartWith(flag)
    expect(message).toEndWith(`; entry ${place} is none`)
    expect(message).not.toContain(canary)
  })

  test('of the file is told by its place too, and a list that is none has no entry', () => {
    const decode = (members: object) => () => decodeConfig({}, fileOf(members))
    const { message } = expectRefusal(decode({ cors_origins: ['*', canary] }), [])
    expect(message).toEndWith('; entry 2 is none')
    expect(expectRefusal(decode({ cors_origins: canary }), []).message).not.toContain('entry')
  })
})

describe('logging', () => {
  test('has its own settings, which no application is told', () => {
    const { logs, settings } = decodeConfig({ logRequests: 'all' }, fileOf({ log_sample: 100 }))
    expect(logs).toEqual({ ...defaultLogSettings, logRequests: 'all', logSample: 100 })
    expect(Object.keys(settings)).toEqual(Object.keys(defaultSettings))
  })

  test.each([
    ['logRequests', 'sometimes'],
    ['logLevel', canary],
    ['logFormat', 'JSON'],
    ['logSample', '0'],
  ])('is not chosen by %s as %p', (name, text) => {
    expectOneLine(() => decodeConfig({ [name]: text }), '--log-')
  })
})

describe('a name that is not known is refused', () => {
  test('and named where it can be nothing else', () => {
    const decode = (name: string) => () => decodeConfig({}, fileOf({ [name]: canary }))
    expectOneLine(decode('mask_gaurd'), '/etc/c.json:1: mask_gaurd is no setting')
    expectOneLine(decode('maskGuard'), '/etc/c.json:1: maskGuard is no setting')
    expectOneLine(decode('__proto__'), '/etc/c.json:1: __proto__ is no setting')
    expectOneLine(decode(canary), '/etc/c.json:1: a name that is not shown')
  })
})

describe('the vault and its key', () => {
  test('are said by the file, and are no settings of a server', () => {
    const members = {
      data: '/srv/vault',
      master_key_file: '/etc/master.key',
      store: 'postgres://coffer@db.example/coffer',
      store_password_file: '/etc/password',
    }
    const file = fileOf(members)
    expect(vaultChoicesOf(file)).toEqual({
      data: '/srv/vault',
      masterKeyFile: '/etc/master.key',
      store: 'postgres://coffer@db.example/coffer',
      storePasswordFile: '/etc/password',
    })
    expect(decodeConfig({}, file)).toEqual(decodeConfig({}))
    expect(vaultChoicesOf(fileOf({ port: 1 }))).toEqual({})
  })

  test.each([
    `postgres://coffer:${canary}@db.example/coffer`,
    `postgresql://db.example/coffer?password=${canary}`,
    `postgres://db.example/coffer?a=b&sslpassword=${canary}`,
    canary,
  ])('are not an address with a password: %j', store => {
    const { message } = expectRefusal(() => vaultChoicesOf(fileOf({ store })), [])
    expect(message).toStartWith('/etc/c.json:1: store: expected an address such as postgres://')
    expect(message).not.toContain(canary)
  })
})

describe('the address', () => {
  const addressBy = (texts: SettingTexts, members: unknown = {}) =>
    decodeConfig(texts, fileOf(members)).address

  test('is loopback unless it is said', () => {
    expect(addressBy({})).toEqual({ host: '127.0.0.1', port: 3_333, keepAliveSeconds: 75 })
    expect(addressBy({ host: '::', port: '0' })).toMatchObject({ host: '::', port: 0 })
    expect(addressBy({ port: '1' }, { host: 'a', port: 2 })).toMatchObject({ host: 'a', port: 1 })
  })

  test('of IPv6 may stand in brackets, as in a URL', () => {
    for (const host of ['::1', '[::1]']) expect(addressBy({ host })).toMatchObject({ host: '::1' })
    const { ops } = decodeConfig({ opsHost: '[::1]', opsPort: '9' })
    expect(ops).toEqual({ host: '::1', port: 9 })
  })

  test.each(['9', '251', '0', '75s'])('does not wait %s seconds for a next request', text => {
    expect(() => addressBy({ keepAliveSeconds: text })).toThrow(
      'expected an integer from 10 to 250',
    )
  })

  test('is a socket where one is named, unless a port is named nearer to the command', () => {
    expect(addressBy({ socket: '/run/a' })).toEqual({ socket: '/run/a' })
    expect(addressBy({ socket: '/run/a', port: '1' })).toEqual({ socket: '/run/a' })
    expect(addressBy({}, { socket: '/run/a', port: 1 })).toEqual({ socket: '/run/a' })
    const overruled = addressBy({ port: '1' }, { socket: '/run/a' })
    expect(overruled).toMatchObject({ host: '127.0.0.1', port: 1 })
  })
})

describe('the workers', () => {
  test('are one unless it is said, by a text or in the file', () => {
    expect(decodeConfig({}).workers).toBe(1)
    expect(decodeConfig({ workers: '3' }, fileOf({ workers: 2 })).workers).toBe(3)
    expect(decodeConfig({}, fileOf({ workers: 2 })).workers).toBe(2)
    expect(decodeConfig({ workers: '3' }).settings).not.toHaveProperty('workers')
  })

  test('cannot share a socket', () => {
    expect(decodeConfig({ workers: '1', socket: '/run/a' }).address).toEqual({ socket: '/run/a' })
    expectOneLine(() => decodeConfig({ workers: '2', socket: '/run/a' }), '--workers')
    expectOneLine(
      () => decodeConfig({}, fileOf({ workers: 2, socket: '/run/a' })),
      '/etc/c.json:1: workers:',
    )
    expect(decodeConfig({ port: '1' }, fileOf({ workers: 2, socket: '/run/a' })).workers).toBe(2)
  })

  test.each(['0', '-1', '65', '1.5', 'two', ''])('%p is no number of them', text => {
    expectOneLine(() => decodeConfig({ workers: text }), '--workers')
  })
})

describe('TLS', () => {
  const both = { tlsCert: 'a.pem', tlsKey: 'a.key' }

  test('is what two files say, and a third one whom callers are signed by', () => {
    expect(decodeConfig({})).not.toHaveProperty('tls')
    expect(decodeConfig(both).tls).toEqual({ cert: 'a.pem', key: 'a.key' })
    const { tls } = decodeConfig({ tlsClientCa: 'c.pem' }, fileOf({ tls_cert: 'a', tls_key: 'b' }))
    expect(tls).toEqual({ cert: 'a', key: 'b', clientCa: 'c.pem' })
    expect(decodeConfig(both).settings).not.toHaveProperty('tlsCert')
  })

  test.each([
    [{ tlsCert: 'a.pem' }, '--tls-cert or COFFER_TLS_CERT: expected --tls-cert and --tls-key'],
    [{ tlsKey: 'a.key' }, '--tls-key or COFFER_TLS_KEY: expected --tls-cert and --tls-key'],
    [{ tlsClientCa: 'c.pem' }, '--tls-client-ca or COFFER_TLS_CLIENT_CA: expected --tls-cert and'],
    [{ ...both, socket: '/run/a' }, '--tls-cert'],
  ])('is refused as %j', (texts, says) => {
    expectOneLine(() => decodeConfig(texts), says)
  })
})
