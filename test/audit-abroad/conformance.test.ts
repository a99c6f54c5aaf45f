/**
 * The proof of the audit log, judged from outside: Go's `sumdb/note` opens a checkpoint by its
 * public key, and Go's `sumdb/tlog` comes to the same root, tiles and proofs.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { printCheckpoint } from '../../src/audit/checkpoint.ts'
import { announceKey } from '../../src/audit/day-keys.ts'
import { rootOf } from '../../src/audit/merkle-tree.ts'
import { makeNoteSigner, printVerifierKey } from '../../src/audit/note-keys.ts'
import { proveConsistency, proveInclusion } from '../../src/audit/proofs.ts'
import { openNote, signNote } from '../../src/audit/signed-note.ts'
import { leavesOf, memoryLog } from '../support/tree-log.ts'

const folder = join(import.meta.dir, 'checker')
const hasGo = Bun.which('go') !== null
if (!hasGo) console.warn('the audit log is not judged by Go: see scripts/install-client-tools')

/** Longest time for fetching the module and for Go's first build. */
const goMsMax = 600_000

/** More than one tile of level 1, so that there is one of level 2. */
const count = 66_000
const proofsOfKind = 300
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))

const origin = 'coffer/4f1c'
const secret = new Uint8Array(32).fill(7)
const signer = makeNoteSigner(origin, 'log', secret)
const vkey = printVerifierKey(signer.key)
/** Go's form of a private key. */
const skey = `PRIVATE+KEY+${origin}+${signer.key.id}+${Uint8Array.of(1, ...secret).toBase64()}`

interface Verdict {
  readonly text: string
  readonly signer: string
  readonly opened: readonly string[]
  readonly root: string
  readonly failed: readonly string[]
  readonly note: string
  readonly inclusions: readonly (readonly string[])[]
  readonly consistencies: readonly (readonly string[])[]
}

async function judge(input: object): Promise<Verdict> {
  const child = Bun.spawn(['go', 'run', '.'], {
    cwd: folder,
    env: {
      ...process.env,
      GOFLAGS: '-mod=readonly',
      GOTOOLCHAIN: 'local',
      GOWORK: 'off',
      CGO_ENABLED: '0',
    },
    stdin: Buffer.from(JSON.stringify(input)),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ])
  if (exitCode !== 0) throw new Error(`go run: ${stderr}`)
  return JSON.parse(stdout) as Verdict
}

const base64Of = (hashes: readonly Uint8Array[]): string[] => hashes.map(hash => hash.toBase64())

/** Small sizes first, then any: two numbers in their order. */
const pairs = (): readonly (readonly [number, number])[] => {
  const any = fc.tuple(fc.nat(count - 1), fc.nat(count - 1))
  const small = fc.tuple(fc.nat(20), fc.nat(20))
  return [
    ...fc.sample(small, { seed, numRuns: proofsOfKind / 3 }),
    ...fc.sample(any, { seed, numRuns: proofsOfKind - proofsOfKind / 3 }),
  ].map(([a, b]) => [Math.min(a, b), Math.max(a, b) + 1])
}

describe.skipIf(!hasGo)(`Go's module database, by seed ${seed}`, () => {
  const log = memoryLog()
  const inclusions: { index: number; size: number; proof: string[] }[] = []
  const consistencies: { older: number; newer: number; proof: string[] }[] = []
  let text: string
  let note: string
  let changed: readonly string[]
  let verdict: Verdict

  beforeAll(async () => {
    await log.append(leavesOf(count))
    const frontier = log.frontier()
    text = printCheckpoint({ origin, size: count, root: rootOf(frontier) })
    note = signNote(text, [signer])
    changed = [
      note.replace(`\n${count}\n`, `\n${count - 1}\n`),
      note.replace(origin, `${origin}x`),
      note.replace(/.=\n\n/, 'A=\n\n'),
    ]
    for (const [index, size] of pairs()) {
      const proof = base64Of(await proveInclusion(log, index, size))
      inclusions.push({ index, size, proof })
      // Go proves nothing of the empty log.
      const older = Math.max(index, 1)
      const continued = base64Of(await proveConsistency(log, older, size))
      consistencies.push({ older, newer: size, proof: continued })
    }
    const tiles = [...log.tiles].map(([key, hashes]) => ({
      level: Number.parseInt(key.slice(2, 4), 16),
      index: Number.parseInt(key.slice(4), 16),
      hashes: hashes.toBase64(),
    }))
    const leaves = base64Of(log.all)
    verdict = await judge({
      key: vkey,
      note,
      changed,
      secret: skey,
      leaves,
      inclusions,
      consistencies,
      tiles,
    })
  }, goMsMax)

  test('opens our checkpoint by our public key', () => {
    expect([verdict.text, verdict.signer]).toEqual([text, origin])
  })

  test('opens no checkpoint that was changed', () => {
    expect(new Set([note, ...changed]).size).toBe(4)
    expect(verdict.opened).toEqual([])
  })

  test('comes to the root that the checkpoint states', () => {
    expect(text).toBe(`${origin}\n${count}\n${verdict.root}\n`)
  })

  test('accepts our proofs, and has our tiles', () => {
    expect([inclusions.length, consistencies.length, log.tiles.size]).toEqual([
      proofsOfKind,
      proofsOfKind,
      3,
    ])
    expect(verdict.failed).toEqual([])
  })

  test('makes the same proofs', () => {
    expect(verdict.inclusions.map(proof => [...proof])).toEqual(inclusions.map(each => each.proof))
    expect(verdict.consistencies.map(proof => [...proof])).toEqual(
      consistencies.map(each => each.proof),
    )
  })

  test('signs a note that is ours to the last byte', () => {
    expect(verdict.note).toBe(note)
    expect(openNote(verdict.note, [signer.key])).toMatchObject({ fault: undefined, text })
  })

  test('refuses a proof that was changed', async () => {
    const [first, second] = [inclusions.at(-1), consistencies.find(({ proof }) => proof.length > 1)]
    const wrong = {
      inclusions: [{ ...first, proof: first?.proof.with(0, log.all[0]?.toBase64() ?? '') }],
      consistencies: [{ ...second, proof: second?.proof.toReversed() }],
    }
    const leaves = base64Of(log.all)
    const { failed } = await judge({ key: vkey, note, secret: skey, leaves, ...wrong })
    expect(failed).toEqual([
      `entry ${first?.index} of ${first?.size}`,
      `${second?.older} to ${second?.newer}`,
    ])
  })

  test('opens the announcement of the key of the next day', async () => {
    const next = makeNoteSigner(origin, 'log', new Uint8Array(32).fill(8))
    const announced = announceKey(next.key, signer)
    const announcement = `coffer audit key\n${announced.vkey}\n`
    const announcing = `${announcement}\n\u2014 ${origin} ${announced.signature}\n`
    const opened = await judge({ key: vkey, note: announcing, secret: skey })
    expect([opened.text, opened.signer]).toEqual([announcement, origin])
    expect(opened.note).toBe(announcing)
  })

  test('is formatted as Go has it', () => {
    expect(Bun.spawnSync(['gofmt', '-l', folder]).stdout.toString()).toBe('')
  })
})
