/**
 * The command line of the benchmark.
 * @module
 */
import { parseArgs } from 'node:util'

export interface Options {
  readonly isQuick: boolean
  /** Runs from source, and writes processor profiles to `dist/profiles`. */
  readonly isProfiling: boolean
  /** With metrics and a log of every request. */
  readonly isWatched: boolean
  /** Names of scenarios; empty for all. */
  readonly only: readonly string[]
  /** Takes the report, beside the one of the other mode. */
  readonly json: string | undefined
  /** A folder of the data set maker for the large vault; by default one is made. */
  readonly data: string | undefined
}

const usage = `usage: bench [--quick] [--profile] [--watched] [--only <scenario>]… [--json <file>]
    [--data <dir>]
  --quick    10,000 tokens, short rounds; compares ratios with docs/performance.json
  --profile  from source; a profile of each server in dist/profiles
  --watched  the servers serve metrics and log every request
  --only     one scenario; may be repeated
  --json     writes the report; a full run draws its graph beside it, as .svg
  --data     the large vault, made by scripts/seed.ts; it is copied`

/** @param known  the names of all scenarios */
export function readOptions(known: readonly string[]): Options {
  const flag = { type: 'boolean' } as const
  const text = { type: 'string' } as const
  try {
    const { values } = parseArgs({
      options: {
        quick: flag,
        profile: flag,
        watched: flag,
        only: { type: 'string', multiple: true },
        json: text,
        data: text,
      },
    })
    const { only = [] } = values
    const unknown = only.find(name => !known.includes(name))
    if (unknown !== undefined) throw new Error(`no scenario ${unknown}`)
    return {
      isQuick: values.quick === true,
      isProfiling: values.profile === true,
      isWatched: values.watched === true,
      only,
      json: values.json,
      data: values.data,
    }
  } catch (error) {
    console.error(`bench: ${error instanceof Error ? error.message : String(error)}`)
    console.error(`${usage}\nscenarios: ${known.join(', ')}`)
    process.exit(2)
  }
}
