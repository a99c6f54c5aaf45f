/**
 * A vault and a witness as processes: the witness cosigns, remembers over its own end, and shows
 * that the folder of the vault was put back, which the vault itself notices at its next start.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { certificates, receiverAddress, writeAuthority } from '../support/receivers.ts'
import { until } from '../support/until.ts'

interface Told {
  readonly address: string
  readonly key: string
}

let root: string
let data: string
let words: readonly string[]
let log: string
let witness: Running
let told: Told
/** The note that the witness cosigned first, and a copy of the folder of then. */
let first: string
let asFirst: string

const toldBy = (running: Running): Told => JSON.parse(running.ready) as Told

const startWitness = (port = '0', ...more: readonly string[]) =>
  startCoffer(['audit', 'witness', ...words, '--port', port, ...more, '--json'])

const serve = () =>
  startCoffer(['serve', '--data', data, '--port', '0', '--ops-port', '0'], {
    env: {
      COFFER_AUDIT_WITNESSES: `${told.key}@${told.address}`,
      COFFER_EGRESS_ALLOW: receiverAddress,
      NODE_EXTRA_CA_CERTS: writeAuthority(),
    },
  })

const opsOf = ({ ready }: Running): string =>
  /http:\S+/.exec(ready.split('\n').find(line => /metrics/.test(line)) ?? '')?.[0] ?? ''

/** Waits until the vault counts that outcome. */
const untilCounted = (vault: Running, outcome: string): Promise<void> =>
  until(async () => {
    const text = await (await fetch(`${opsOf(vault)}/metrics`)).text()
    return new RegExp(`coffer_audit_witness_total\\{outcome="${outcome}"\\} [1-9]`).test(text)
  })

const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${told.address}${path}`, { ...init, tls: { rejectUnauthorized: false } } as RequestInit)

async function cosigned(): Promise<string> {
  const origin = log.slice(0, log.indexOf('+'))
  const hash = new Bun.CryptoHasher('sha256').update(origin).digest('hex')
  const answer = await ask(`/${hash}/checkpoint`)
  expect(answer.status).toBe(200)
  return answer.text()
}

const sizeIn = (note: string): number => Number(note.split('\n')[1])

async function sizeOfLog(): Promise<number> {
  const { stdout } = await runCoffer(['audit', 'verify', '--data', data, '--json'])
  return (JSON.parse(stdout) as { readonly size: number }).size
}

/** Its start and its end are entries. */
async function serveAlone(): Promise<void> {
  const server = await startCoffer(['serve', '--data', data, '--port', '0'])
  expect(await server.end('SIGTERM')).toBe(0)
}

beforeAll(async () => {
  root = temporaryFolder()
  data = join(root, 'data')
  expect((await runCoffer(['init', '--data', data])).exitCode).toBe(0)
  // A first start makes the keys of its log.
  await serveAlone()
  log = (await runCoffer(['audit', 'key', '--data', data, '--for-witnesses'])).stdout.trim()
  const [cert, key] = [join(root, 'cert.pem'), join(root, 'key.pem')]
  writeFileSync(cert, certificates.right.cert, { mode: 0o600 })
  writeFileSync(key, certificates.right.key, { mode: 0o600 })
  const [folder, name] = [join(root, 'witness'), 'witness.example']
  words = ['--folder', folder, '--name', name, '--log', log, '--host', receiverAddress]
  words = [...words, '--tls-cert', cert, '--tls-key', key]
  witness = await startWitness()
  told = toldBy(witness)
  const vault = await serve()
  await untilCounted(vault, 'cosigned')
  await vault.end('SIGTERM')
  first = await cosigned()
  asFirst = join(root, 'as-first')
  cpSync(data, asFirst, { recursive: true })
}, 300_000)

afterAll(async () => {
  expect(await witness.end('SIGTERM')).toBe(0)
})

describe('a witness', () => {
  // proves S99
  test('cosigns, forgets nothing when killed, and shows that a folder was put back', async () => {
    const older = join(root, 'older')
    cpSync(data, older, { recursive: true })
    // Its start and end are entries, so that the next checkpoint is ahead of the copy.
    expect(await (await serve()).end('SIGTERM')).toBe(0)
    const vault = await serve()
    await untilCounted(vault, 'cosigned')
    expect(await vault.end('SIGTERM')).toBe(0)
    const pinned = join(root, 'pinned.note')
    writeFileSync(pinned, await cosigned())
    const verify = () => runCoffer(['audit', 'verify', '--data', data, '--pinned', pinned])
    expect(await verify()).toMatchObject({ exitCode: 0, stderr: '' })

    await witness.end('SIGKILL')
    const port = new URL(told.address).port
    witness = await startWitness(port)
    expect(toldBy(witness)).toEqual(told)
    expect(await cosigned()).toBe(await Bun.file(pinned).text())

    rmSync(data, { recursive: true })
    cpSync(older, data, { recursive: true })
    const { exitCode, stderr } = await verify()
    expect(exitCode).toBe(1)
    expect(stderr).toContain('the log ends here, before what was signed or announced')
    const back = await serve()
    await untilCounted(back, 'diverged')
    expect(await back.end('SIGTERM')).toBe(0)
    const event = '"event":"audit_diverged","witness":"witness.example","outcome":"diverged"'
    expect(await back.stderr).toContain(event)
    expect(await back.stderr).not.toContain('audit_not_cosigned')
    // Grown beyond what was cosigned, it has the size, and other entries.
    const seen = sizeIn(await cosigned())
    while ((await sizeOfLog()) <= seen) await serveAlone()
    const grown = await serve()
    await untilCounted(grown, 'diverged')
    expect(await grown.end('SIGTERM')).toBe(0)
    expect(await grown.stderr).not.toContain('audit_not_cosigned')
    expect(await cosigned()).toBe(await Bun.file(pinned).text())
  }, 300_000)

  // proves S99
  test('vouches by its own signature, whatever a stranger put under its note', async () => {
    const folder = ['--folder', join(root, 'second'), '--name', 'second.example']
    const second = await startWitness('0', ...folder)
    const { address, key } = toldBy(second)
    // The key of the day, which no witness knows, has signed first.
    const [, day = '', encoded = ''] = /^\u2014 (\S+) (\S+)$/m.exec(first) ?? []
    const bytes = Buffer.from(encoded, 'base64').fill(1, 4)
    const lied = `${first}\u2014 ${day} ${bytes.toString('base64')}\n`
    const tls = { rejectUnauthorized: false }
    const body = `old 0\n\n${lied}`
    const sent = await fetch(`${address}/add-checkpoint`, { method: 'POST', body, tls })
    expect(sent.status).toBe(200)
    const pinned = join(root, 'lied.note')
    writeFileSync(pinned, lied + (await sent.text()))
    expect(await second.end('SIGTERM')).toBe(0)
    const run = (...more: readonly string[]) =>
      runCoffer(['audit', 'verify', '--data', asFirst, ...more])
    const verify = (...more: readonly string[]) => run('--pinned', pinned, ...more)
    expect((await verify()).stderr).toContain('a signature on this checkpoint is wrong')
    expect((await verify('--witness', key)).exitCode).toBe(0)
    const other = key.replace(/^[^+]*/, 'third.example')
    expect((await verify('--witness', other)).stderr).toContain('expected the 8 hex digits')
    expect((await verify('--witness', log)).stderr).toContain('expected the key of a witness')
    expect((await run('--witness', key)).stderr).toContain('expected --pinned as well')
    writeFileSync(pinned, first)
    expect((await verify('--witness', key)).stderr).toContain('that witness has not signed this')
  }, 300_000)

  test('says few lines, however often it is sent what is public', async () => {
    const folder = ['--folder', join(root, 'flooded'), '--name', 'flooded.example']
    const flooded = await startWitness('0', ...folder)
    const tls = { rejectUnauthorized: false }
    const post = async (body: string): Promise<number> =>
      (await fetch(`${toldBy(flooded).address}/add-checkpoint`, { method: 'POST', body, tls }))
        .status
    for (let sent = 0; sent < 100; sent += 1) {
      expect(await post(`old 0\n\n${first}`)).toBe(sent === 0 ? 200 : 409)
      expect(await post(`old ${sizeIn(first)}\n\n${first}`)).toBe(200)
    }
    expect(await flooded.end('SIGTERM')).toBe(0)
    const lines = (await flooded.stdout).trim().split('\n')
    expect(lines.length).toBeLessThan(100)
    const countOf = (status: number) =>
      lines
        .filter(line => line.includes(` ${status} coffer/`))
        .map(line => Number(/ and (\d+) more$/.exec(line)?.[1] ?? 1))
        .reduce((sum, count) => sum + count, 0)
    expect([countOf(200), countOf(409)]).toEqual([101, 99])
  }, 300_000)

  test('answers nothing but its two questions, and nobody it does not know', async () => {
    expect((await ask('/')).status).toBe(404)
    expect((await ask(`/${'0'.repeat(64)}/checkpoint`)).status).toBe(404)
    expect((await ask(`/${'0'.repeat(64)}/checkpoint`, { method: 'POST' })).status).toBe(405)
    expect((await ask('/add-checkpoint')).status).toBe(405)
    const post = (body: string | Uint8Array<ArrayBuffer>) =>
      ask('/add-checkpoint', { method: 'POST', body })
    const note = await cosigned()
    expect((await post(note)).status).toBe(400)
    expect((await post(new Uint8Array([0xff, 0x0a]))).status).toBe(400)
    expect((await post(`old 0\n\n${note.replace('coffer/', 'coffee/')}`)).status).toBe(404)
    expect((await post(`old 0\n\n${note}`)).status).toBe(409)
    const signed = note.slice(note.indexOf('\n\n') + 2)
    const nobody = signed.replace(/ \S+ \S+\n/, ' nobody AAAAAAAA\n')
    expect((await post(`old ${sizeIn(note)}\n\n${note}${nobody}`)).status).toBe(200)
    expect(await cosigned()).toBe(note)
    expect((await post('x'.repeat(70_000))).status).toBe(413)
  })

  test('has its folder for itself, and says what is wrong with its files', async () => {
    const run = (...more: readonly string[]) =>
      runCoffer(['audit', 'witness', ...words, '--port', '0', ...more])
    expect((await run()).stderr).toMatch(
      /^coffer: another coffer runs on this data folder \(coffer audit witness, process \d+\)/,
    )
    const folder = join(root, 'damaged')
    cpSync(join(root, 'witness'), folder, { recursive: true })
    const [note = ''] = readdirSync(folder).filter(each => each.endsWith('.note'))
    writeFileSync(join(folder, note), 'x')
    expect((await run('--folder', folder)).stderr).toContain('is no checkpoint that was cosigned')
    rmSync(join(folder, note))
    writeFileSync(join(folder, 'witness.key'), 'x')
    expect((await run('--folder', folder)).stderr).toContain('holds no key of a witness')
    const other = await run('--log', told.key)
    expect(other.stderr).toContain('expected the key of a log')
    expect((await run('--name', 'a b')).stderr).toContain('--name: expected a name without blanks')
  }, 300_000)
})

describe('the witnesses of a vault', () => {
  test.each([
    ['of a log', () => `${log}@https://w.example`, 'expected the key of a witness, not of a log'],
    ['that is broken', () => 'w+00000000+AA==@https://w.example', 'expected a key of Ed25519'],
    ['by name of a user', () => `${told.key}@https://u@w.example`, 'without user name'],
  ])('are refused at the start: a key %s', async (_, given, says) => {
    const env = { COFFER_AUDIT_WITNESSES: given() }
    const { exitCode, stderr } = await runCoffer(['serve', '--data', data, '--port', '0'], { env })
    expect(exitCode).not.toBe(0)
    expect(stderr).toContain('--audit-witnesses: ')
    expect(stderr).toContain(says)
  })
})
