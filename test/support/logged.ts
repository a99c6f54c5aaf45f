/**
 * A command that stays, whose stderr goes to a file that is read while it runs.
 * @module
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startCoffer, type Running } from './coffer-process.ts'
import { temporaryFolder } from './folders.ts'

export type Line = Readonly<Record<string, unknown>>

export interface LogFile {
  /** A command in front that sends stderr to the file. */
  readonly prefix: readonly string[]
  /** The name that systemd would put in `JOURNAL_STREAM` for the journal. */
  readonly stream: string
  readonly text: () => string
  /** Complete lines. @throws SyntaxError for one that is no JSON */
  readonly lines: () => readonly Line[]
}

export function makeLogFile(): LogFile {
  const path = join(temporaryFolder(), 'stderr')
  writeFileSync(path, '')
  const { dev, ino } = statSync(path, { bigint: true })
  const text = (): string => readFileSync(path, 'utf8')
  return {
    prefix: ['sh', '-c', 'file=$1; shift; exec "$@" 2>>"$file"', 'sh', path],
    stream: `${dev}:${ino}`,
    text,
    lines: () =>
      text()
        .split('\n')
        .slice(0, -1)
        .map(line => JSON.parse(line) as Line),
  }
}

export interface Logged {
  readonly server: Running
  readonly lines: LogFile['lines']
}

export async function startLogged(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Logged> {
  const { prefix, lines } = makeLogFile()
  return { server: await startCoffer(args, { prefix, env }), lines }
}

/** Returns the wanted events among the lines, in their order. */
export const eventsIn = (lines: readonly Line[], ...events: readonly string[]): unknown[] =>
  lines.map(({ event }) => event).filter(event => events.includes(String(event)))
