/**
 * Page rot: in one page of a large vault all bytes become zeros or random, or one bit is flipped;
 * it is then served, and in some cases examined by `doctor` and copied by `backup`.
 *
 * Each case ends in a line that gives the reason, right answers, or errors in their place: never in
 * a native crash, a wrong plaintext, or a loss that `verify` does not report. Folds are of 20,000
 * rows, so only larger vaults have folded rows. Source: hardening L32.
 * @module
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { copyDataSet, makeDataSet } from '../../../scripts/bench/data-sets.ts'
import type { Facts } from '../../../scripts/seed/facts.ts'
import { runCoffer, startCoffer, type Ended, type Running } from '../../support/coffer-process.ts'
import { serveArguments, type Target } from '../damage/stored-vault.ts'
import { compareWithTwin } from '../damage/twin.ts'
import {
  makeWorkingCopy,
  rotKinds,
  type RotKind,
  type WorkingCopy,
} from '../damage/working-copy.ts'
import { drawFrom, pick, type Draw } from '../draw.ts'
import type { Part, PartOptions, Size } from '../part.ts'

const doctorEvery = 3
/** Depends on the tokens of the vault: a backup of many takes as long as many cases. */
const backupEvery = (tokens: number): number => (tokens > 100_000 ? 50 : 10)
/** A command that takes longer counts as hung. */
const secondsMax = '600'
const prefix = ['timeout', '-s', 'KILL', secondsMax]

interface Bench {
  readonly copy: WorkingCopy
  readonly facts: Facts
  readonly twin: Target
}

interface Tally {
  readonly counts: Map<string, number>
  readonly failures: string[]
}

const count = ({ counts }: Tally, what: string, by = 1): void =>
  void counts.set(what, (counts.get(what) ?? 0) + by)

/** True for an error of one line, after lines of progress if the command takes long. */
const isLine = (text: string): boolean =>
  /^([a-z]+: \d+ %\n)*coffer: [^\n]+\n$/.test(text) && !text.includes('fault of coffer')

/** @returns a fault in how a command ended; exit code 1 needs findings or an error line */
function breachOf(name: string, { exitCode, stdout, stderr }: Ended): string[] {
  const isClear = exitCode === 1 && (isLine(stderr) || (stderr === '' && stdout !== ''))
  if (exitCode === 0 || isClear) return []
  return [`${name} ended with ${exitCode}: ${stderr.slice(-300)}`]
}

const names = [
  'cases',
  ...rotKinds.map(kind => `${kind}: cases`),
  'starts refused',
  'served, all answers right',
  'served, some answers errors or missing',
  'answers right',
  'answers that are errors',
  'tokens missing, as verify reports',
  'looks of doctor',
  'backups',
  'breaches',
]

const run = (data: string, name: string, ...words: string[]): Promise<Ended> =>
  runCoffer([name, '--data', data, ...words], { prefix })

async function serveCase(
  { copy: { data }, facts, twin }: Bench,
  ordinals: readonly number[],
  draw: Draw,
  tally: Tally,
): Promise<string[]> {
  const socket = `${data}.sock`
  let server: Running
  try {
    server = await startCoffer(serveArguments(data, socket), { prefix })
  } catch (error) {
    const line = String(error).replace(/^.*ended before it was ready: /s, '')
    count(tally, 'starts refused')
    return isLine(line) ? [] : [`serve: ${line.slice(0, 300)}`]
  }
  const compared = await compareWithTwin(twin, { ...twin, socket }, facts, ordinals, draw)
  const exitCode = await server.end('SIGTERM')
  count(tally, 'answers right', compared.right)
  count(tally, 'answers that are errors', compared.errors)
  count(tally, 'tokens missing, as verify reports', compared.missing)
  const breaches = [...compared.failures]
  if (exitCode !== 0) breaches.push(`serve ended with ${exitCode}: ${await server.stderr}`)
  const isRight = compared.errors + compared.missing === 0
  count(tally, isRight ? 'served, all answers right' : 'served, some answers errors or missing')
  // An answer with an error reveals the loss; a missing token must be reported by `verify`.
  if (compared.missing > 0 && (await run(data, 'verify')).exitCode !== 1) {
    breaches.push('a loss that verify does not report')
  }
  return breaches
}

async function runCase(bench: Bench, seed: number, tally: Tally): Promise<void> {
  const { copy, facts } = bench
  const draw = drawFrom(seed)
  const kind: RotKind = pick(draw, rotKinds) ?? 'zeros'
  const page = draw(copy.pages)
  const ordinals = copy.damage(page, kind, draw)
  const breaches: string[] = []
  if (draw(doctorEvery) === 0) {
    breaches.push(...breachOf('doctor', await run(copy.data, 'doctor')))
    count(tally, 'looks of doctor')
  }
  if (draw(backupEvery(facts.tokens)) === 0) {
    const to = `${copy.data}.backup`
    breaches.push(...breachOf('backup', await run(copy.data, 'backup', '--to', to)))
    rmSync(to, { recursive: true, force: true })
    count(tally, 'backups')
  }
  breaches.push(...(await serveCase(bench, ordinals, draw, tally)))
  copy.restore()
  count(tally, `${kind}: cases`)
  count(tally, 'cases')
  count(tally, 'breaches', breaches.length)
  for (const breach of breaches) {
    tally.failures.push(`case seed ${seed}, page ${page}, ${kind}: ${breach}`)
  }
}

async function rotVault(
  { folder, say }: PartOptions,
  tokens: number,
  seeds: readonly number[],
): Promise<Tally> {
  const tally: Tally = { counts: new Map(), failures: [] }
  const made = await makeDataSet(join(folder, `made-${tokens}`), tokens, 'cards')
  const { facts } = made
  const { folder: data } = copyDataSet(made, join(folder, `twin-${tokens}`))
  const socket = `${data}.sock`
  const server = await startCoffer(serveArguments(data, socket))
  const copy = makeWorkingCopy(made.folder, join(folder, `copy-${tokens}`))
  const bench = { copy, facts, twin: { socket, key: facts.keys.reveal } }
  for (const [index, seed] of seeds.entries()) {
    await runCase(bench, seed, tally)
    if (index % 10 === 9) say(`${index + 1} cases, ${tally.failures.length} failures`)
  }
  await server.end('SIGTERM')
  return tally
}

/** @param cases of each size; a size without any is not run */
export const rotPagesOf =
  (tokens: number, cases: Readonly<Record<Size, number>>): Part =>
  async options => {
    const wanted = cases[options.size]
    if (wanted === 0) {
      return { figures: {}, failures: [], skipped: 'its vault takes longer than a short run' }
    }
    const draw = drawFrom(options.seed)
    const seeds = Array.from({ length: wanted }, () => draw(2 ** 31))
    const { counts, failures } = await rotVault(options, tokens, seeds)
    const figures = Object.fromEntries(names.map(name => [name, counts.get(name) ?? 0]))
    return { figures, failures }
  }
