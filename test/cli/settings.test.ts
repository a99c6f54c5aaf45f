/**
 * Settings on the command line: flags, variables and the file, and what is refused before anything
 * starts.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configFileBytesMax } from '../../src/limits/operation-limits.ts'
import { runCoffer, startCoffer, type RunOptions } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { canary } from '../support/refusal.ts'

let root: string
let data: string
beforeAll(async () => {
  root = temporaryFolder()
  data = join(root, 'data')
  await runCoffer(['init', '--data', data])
})

const fileOf = (name: string, text: string): string => {
  const path = join(root, name)
  writeFileSync(path, text)
  return path
}

async function expectUsage(
  args: readonly string[],
  says: string,
  options: RunOptions = {},
): Promise<void> {
  const { exitCode, stdout, stderr } = await runCoffer(['serve', '--data', data, ...args], options)
  expect([exitCode, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^coffer: [^\n]+; see --help\n$/)
  expect(stderr).toContain(says)
  expect(stderr).not.toContain(canary)
}

test('a flag stands before its variable, and that before the file', async () => {
  const file = fileOf(
    'settings.json',
    JSON.stringify({ port: 0, base_path: '/file', cors_origins: ['https://file.example'] }),
  )
  const env = {
    COFFER_BASE_PATH: '/variable',
    COFFER_KEY_HEADERS: 'x-variable',
    COFFER_CONFIG: file,
  }
  const args = ['serve', '--data', data, '--base-path', '/flag']
  const server = await startCoffer(args, { env })
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? ''
  const ask = (path: string) => fetch(url + path, { method: 'OPTIONS', headers: asked })
  const asked = { Origin: 'https://file.example', 'Access-Control-Request-Method': 'GET' }
  const answer = await ask('/flag/tokens')
  expect(answer.status).toBe(204)
  expect(answer.headers.get('access-control-allow-origin')).toBe('https://file.example')
  expect(answer.headers.get('access-control-allow-headers')).toContain('x-variable')
  expect((await ask('/variable/tokens')).status).toBe(404)
  expect((await ask('/file/tokens')).status).toBe(404)
  expect(await server.end('SIGTERM')).toBe(0)
})

// proves C1.3
test('a prefix of header names may be given again, and stands before its variable', async () => {
  const args = ['serve', '--data', data, '--port', '0']
  const flags = ['--header-prefix', 'BT', '--header-prefix', 'shop,till']
  const env = { COFFER_HEADER_PREFIX: 'variable' }
  const allowedBy = async (more: readonly string[]): Promise<string> => {
    const server = await startCoffer([...args, ...more], { env })
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? ''
    const headers = { Origin: 'https://a.example', 'Access-Control-Request-Method': 'GET' }
    const answer = await fetch(`${url}/tokens`, { method: 'OPTIONS', headers })
    expect(await server.end('SIGTERM')).toBe(0)
    return answer.headers.get('access-control-allow-headers') ?? ''
  }
  const byFlags = await allowedBy(flags)
  for (const prefix of ['bt', 'shop', 'till']) expect(byFlags).toContain(`${prefix}-api-key`)
  expect(byFlags).not.toContain('variable-api-key')
  expect(await allowedBy([])).toContain('variable-api-key')
})

describe('wrong usage starts nothing', () => {
  test('because of a value of a flag, a variable or the file', async () => {
    await expectUsage(['--strict-masks', canary], '--strict-masks or COFFER_STRICT_MASKS: expected')
    const env = { COFFER_BODY_BYTES_MAX: canary }
    await expectUsage([], '--body-bytes-max or COFFER_BODY_BYTES_MAX: expected', { env })
    for (const lifetime of [canary, '0h', '59s', '8d', '']) {
      const expected = 'expected a number with m, h or d behind it, from 1m to 7d, or never'
      await expectUsage(['--cvc-lifetime', lifetime], expected)
    }
    const file = fileOf('wrong.json', JSON.stringify({ mask_guard: canary }))
    await expectUsage(['--config', file], `${file}:1: mask_guard: expected true or false`)
  })

  test('because of a name that nobody knows', async () => {
    const env = { COFFER_MASK_GAURD: canary }
    await expectUsage([], 'environment: COFFER_MASK_GAURD is no setting', { env })
    const file = fileOf('unknown.json', JSON.stringify({ mask_gaurd: canary }))
    await expectUsage(['--config', file], `${file}:1: mask_gaurd is no setting`)
  })

  test('because of a file that is missing, too long, or no JSON', async () => {
    await expectUsage(['--config', join(root, 'missing.json')], 'cannot be read')
    const long = fileOf('long.json', `{}${' '.repeat(configFileBytesMax)}`)
    await expectUsage(['--config', long], `of at most ${configFileBytesMax} bytes`)
    const broken = fileOf('broken.json', `{\n\n"a":${canary}`)
    await expectUsage(['--config', broken], `${broken}:3: expected`)
  })

  test('in a throw-away vault neither', async () => {
    const { exitCode, stderr } = await runCoffer(['dev', '--port', 'x'])
    expect([exitCode, stderr]).toEqual([
      2,
      'coffer: --port or COFFER_PORT: expected an integer from 0 to 65535; see --help\n',
    ])
  })
})

describe('variables of services whose names begin with coffer, and empty ones', () => {
  const ofService = {
    COFFER_SERVICE_HOST: '10.0.0.1',
    COFFER_SERVICE_PORT: '3333',
    COFFER_SERVICE_PORT_HTTP: '3333',
    COFFER_PORT: 'tcp://10.0.0.1:3333',
    COFFER_PORT_3333_TCP: 'tcp://10.0.0.1:3333',
    COFFER_PORT_3333_TCP_PROTO: 'tcp',
    COFFER_PORT_3333_TCP_PORT: '3333',
    COFFER_PORT_3333_TCP_ADDR: '10.0.0.1',
    COFFER_VAULT_V2_SERVICE_HOST: '10.0.0.2',
    COFFER_VAULT_V2_SERVICE_PORT: '443',
    COFFER_VAULT_V2_SERVICE_PORT_WEB: '443',
    COFFER_VAULT_V2_PORT: 'tcp://10.0.0.2:443',
    COFFER_VAULT_V2_PORT_443_TCP_ADDR: '10.0.0.2',
    // Docker's links set these.
    COFFER_NAME: '/web/coffer',
    COFFER_DB_NAME: '/web/coffer_db',
    COFFER_DB_ENV_POSTGRES_DB: 'coffer',
    COFFER_DB_1_NAME: '/web/coffer-db.1',
    COFFER_DB_1_ENV_LC_ENV_X: '1',
    // Templates leave this for settings that nobody has chosen.
    COFFER_WORKERS: '',
    COFFER_LOG_LEVEL: '',
    COFFER_MASTER_KEY_FILE: '',
    COFFER_STORE: '',
    COFFER_NO_SUCH_SETTING: '',
  }

  test('keep nothing from starting, and choose no port', async () => {
    const args = ['serve', '--data', data, '--port', '0']
    const server = await startCoffer(args, { env: ofService })
    expect(server.ready).toMatch(/^Coffer listens on http:\/\/127\.0\.0\.1:\d+\n$/)
    expect(server.ready).not.toContain(':3333\n')
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test.each([
    'COFFER_SERVICES',
    'COFFER_PORTS',
    'COFFER_PORT_TCP',
    'COFFER_DB_PORT',
    'COFFER_NAME',
  ])('are not %s, which is refused', name =>
    expectUsage([], `environment: ${name} is no setting`, { env: { [name]: canary } }),
  )

  test.each([
    ['COFFER_MASTER_KEY_FILE_NAME', '/run/secrets'],
    ['COFFER_ENV_MASK_GUARD', 'off'],
    ['COFFER_TLS_CLIENT_ENV_CA', '/etc/ca'],
  ])('are not %s beside no link, which is refused', (name, value) =>
    expectUsage([], `environment: ${name} is no setting`, { env: { [name]: value } }),
  )

  test.each(['TLS_CLIENT_CA', 'ERASURE_LOG'])(
    'are not COFFER_%s, without which nothing tells that it is off',
    name => expectUsage([], `COFFER_${name}: expected a path`, { env: { [`COFFER_${name}`]: '' } }),
  )

  test.each(['MASTER_KEY_FILE', 'MASTER_KEY_CREDENTIAL', 'STORE'])(
    'are not COFFER_%s of a new vault, unless its place is said otherwise',
    async place => {
      const name = `COFFER_${place}`
      const made = join(root, place)
      const said = `coffer: environment: ${name} is empty: take it away, or say where; see --help\n`
      for (const words of [['init'], ['serve', '--init-new']]) {
        const command = [...words, '--data', made]
        const ended = await runCoffer(command, { env: { [name]: '' } })
        expect(ended).toEqual({ exitCode: 2, stdout: '', stderr: said })
      }
      expect(existsSync(made)).toBe(false)
      if (place === 'STORE') return
      const words = ['init', '--data', made, '--master-key-file', `${made}.key`]
      expect(await runCoffer(words, { env: { [name]: '' } })).toMatchObject({ exitCode: 0 })
    },
  )

  test('are not a port of ours that is none', async () => {
    const env = { COFFER_PORT: `x${canary}` }
    await expectUsage([], '--port or COFFER_PORT: expected an integer', { env })
  })
})

describe('a misspelled command line', () => {
  test.each([
    [['serv'], "unknown command 'serv' (Did you mean serve?)"],
    [['backp'], "unknown command 'backp' (Did you mean backup?)"],
    [['serve', '--prot', '1'], "unknown option '--prot' (Did you mean --port?)"],
  ])('%j is told in one line what was meant', async (args, says) => {
    const ended = await runCoffer(args)
    expect(ended).toEqual({ exitCode: 2, stdout: '', stderr: `coffer: ${says}; see --help\n` })
  })

  test('is none with --version, which says what `version` does', async () => {
    const [flag, command] = [await runCoffer(['--version']), await runCoffer(['version'])]
    expect(flag).toEqual(command)
    expect(flag.stdout).toMatch(/^\d+\.\d+\.\d+\+(?:source|[0-9a-f]{12})\n$/)
  })
})
