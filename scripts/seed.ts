/**
 * The data set maker: `bun scripts/seed.ts --data <dir> --tokens 1000000 [--seed 1] [--mix cards]`.
 *
 * Makes a vault, or adds to one, and writes its facts to `<dir>.json`. The same seed makes the same
 * tokens.
 * @module
 */
import { parseArgs } from 'node:util'
import { blockTokens, tokensMin, type Mix } from './seed/contents.ts'
import { bytesOnDisk, sharesOf, writeFacts } from './seed/facts.ts'
import { fillVault, type Filled } from './seed/fill.ts'
import { makeVault, type VaultKeys } from './seed/vault.ts'

const usage = `usage: seed --data <dir> --tokens <n> [--seed <n>] [--mix mixed|cards]
  tokens: 0, or a multiple of ${blockTokens}; of mixed ones at least ${tokensMin}`

function readArguments() {
  const text = { type: 'string' } as const
  const { values } = parseArgs({ options: { data: text, tokens: text, seed: text, mix: text } })
  const { data, mix = 'mixed' } = values
  const tokens = Number(values.tokens)
  const seed = Number(values.seed ?? 1)
  const isMix = mix === 'mixed' || mix === 'cards'
  const leastTokens = tokens === 0 || mix === 'cards' ? 0 : tokensMin
  const isCount = tokens >= leastTokens && tokens % blockTokens === 0
  if (data === undefined || !isCount || !Number.isInteger(seed) || !isMix) {
    console.error(usage)
    process.exit(2)
  }
  return { data, tokens, seed, mix: mix as Mix }
}

const options = readArguments()
const { data, tokens, seed, mix } = options
const secondsSince = () => (performance.now() - started) / 1_000

async function fill(keys: VaultKeys): Promise<Filled> {
  if (tokens === 0) return { cardIds: [], cardRow: { bytes: 0, uniques: 0, terms: 0 } }
  const step = Math.max(tokens / 10, 10_000)
  let next = step
  const onProgress = (done: number): void => {
    if (done < next) return
    next += step
    const seconds = secondsSince()
    const rate = Math.round(done / seconds)
    console.info(`seed: ${done} tokens, ${seconds.toFixed(1)} s, ${rate} a second`)
  }
  return fillVault({ ...options, key: keys.create, onProgress })
}

const keys = await makeVault(data)
const started = performance.now()
const filled = await fill(keys)
const seconds = secondsSince()
const bytes = bytesOnDisk(data)
const facts = {
  tokens,
  seed,
  mix,
  keys,
  seconds,
  bytesOnDisk: bytes,
  ...sharesOf(mix, tokens),
  ...filled,
}
const path = writeFacts(data, facts)
const perToken = tokens === 0 ? '' : `, ${Math.round(bytes / tokens)} bytes a token`
console.info(`seed: ${tokens} tokens in ${seconds.toFixed(1)} s, ${bytes} bytes on disk${perToken}`)
console.info(`seed: ${path}`)
process.exit(0)
