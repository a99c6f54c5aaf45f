/**
 * Tests if refusals can be distinguished by their time:
 * `bun scripts/timing.ts [--samples 100000] [--seed 1] [--in-process]`.
 *
 * Runs against a server, from source or the binary that `COFFER_BINARY` names, with keys that are
 * refused for different reasons, and with ids of tokens that are absent or out of rule; each round
 * tries all reasons. Exits with 1 when Welch's t of two of them reaches 4.5, over that many samples
 * of each, with nothing left out. A busy machine hides much in that; so it also exits with 1 when t
 * reaches 4.5 without the slowest 1 % of all together and the means differ by 0.5 µs or more.
 * `--in-process` times the look-ups alone, where a microsecond is much: printed, not judged.
 * Source: contract section 2; hardening F16.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openRandom } from './seed/random.ts'
import { measure, type Group } from './timing/measure.ts'
import { compareAnswers } from './timing/server.ts'
import { compareLookUps } from './timing/vault.ts'
import { cropAll, momentsOf, welchOf, worstOf, type Moments } from './timing/welch.ts'

const tMax = 4.5
const keptShare = 0.99
const apartMicroseconds = 0.5
const samplesMin = 100

function readArguments() {
  const { values } = parseArgs({
    options: {
      samples: { type: 'string', default: '100000' },
      seed: { type: 'string', default: '1' },
      'in-process': { type: 'boolean', default: false },
    },
  })
  const [samples, seed] = [Number(values.samples), Number(values.seed)]
  if (Number.isInteger(samples) && samples >= samplesMin && Number.isInteger(seed)) {
    return { samples, seed, inProcess: values['in-process'] }
  }
  console.error(`usage: timing [--samples N, at least ${samplesMin}] [--seed N] [--in-process]`)
  process.exit(2)
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const microseconds = (value: number): string => value.toFixed(2)

function linesOf({ kinds }: Group, whole: readonly Moments[], cropped: readonly Moments[]) {
  return kinds.map(({ name }, index) => {
    const [of, from, croppedOf, croppedFrom] = [whole[index], whole[0], cropped[index], cropped[0]]
    if (!of || !from || !croppedOf || !croppedFrom) throw new Error('moments of each kind')
    const figures = [of.mean, of.median, of.deviation].map(microseconds)
    const t = index === 0 ? '' : welchOf(of, from).toFixed(2)
    const croppedT = index === 0 ? '' : welchOf(croppedOf, croppedFrom).toFixed(2)
    return row([name, String(of.count), ...figures, t, microseconds(croppedOf.mean), croppedT])
  })
}

/** @returns true if no two kinds can be distinguished */
function printGroup(group: Group, samples: readonly Float64Array[]): boolean {
  const whole = samples.map(momentsOf)
  const cropped = cropAll(samples, keptShare).map(momentsOf)
  const worst = worstOf(whole)
  console.info(`\n${group.title}\n`)
  const titles = ['n', 'mean µs', 'median µs', 'sd µs', 't', 'cropped mean µs', 'cropped t']
  console.info(row(['Refused for', ...titles]))
  console.info('|---|---|---|---|---|---|---|---|')
  for (const line of linesOf(group, whole, cropped)) console.info(line)
  const worsts = [worst, worstOf(cropped)].map(t => t.toFixed(2))
  console.info(`\nLargest |t| of all pairs: ${worsts.join(', cropped ')}`)
  return Math.max(worst, worstOf(cropped, apartMicroseconds)) < tMax
}

const { samples, seed, inProcess } = readArguments()
const random = openRandom(seed)
const folder = mkdtempSync(join(tmpdir(), 'coffer-timing-'))
try {
  const { groups, close } = await (inProcess ? compareLookUps : compareAnswers)(folder, random)
  const passes: boolean[] = []
  for (const group of groups) {
    passes.push(printGroup(group, await measure(group.kinds, samples, random)))
  }
  await close()
  const passed = passes.filter(Boolean).length
  if (!inProcess) console.info(`\n ${passed} pass\n ${groups.length - passed} fail`)
  process.exitCode = inProcess || passed === groups.length ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
