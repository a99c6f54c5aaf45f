/**
 * Runs `coffer keys …` beside a server that is killed, or is itself killed in the middle.
 * @module
 */
import { cofferCommand, foldSetting } from '../../support/coffer-process.ts'
import type { Home } from '../clients/server.ts'

export type What = 'rotate' | 'retire' | 'rekey' | 'status'

export interface CommandEnd {
  /** `null` if it was killed. */
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Command {
  readonly ended: Promise<CommandEnd>
  readonly kill: () => void
}

export function startKeys({ data, temporary }: Home, what: What): Command {
  // Otherwise each old master key would have to be moved away before the next rekey.
  const words = what === 'rekey' ? ['--forget-old-key'] : []
  const child = Bun.spawn([...cofferCommand, 'keys', what, '--data', data, '--json', ...words], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: process.env['PATH'], BUN_TMPDIR: temporary, ...foldSetting() },
  })
  const texts = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const end = async (): Promise<CommandEnd> => {
    await child.exited
    const [stdout, stderr] = await texts
    return { exitCode: child.exitCode, stdout, stderr }
  }
  return { ended: end(), kill: () => child.kill('SIGKILL') }
}

export const runKeys = (home: Home, what: What): Promise<CommandEnd> => startKeys(home, what).ended

interface Status {
  readonly master_key: number
  readonly keys: readonly {
    readonly number: number
    readonly state: string
    readonly rows: number
  }[]
}

/** Status of a served vault; `undefined` while no server listens. */
export async function statusOf(home: Home): Promise<Status | undefined> {
  const { exitCode, stdout } = await runKeys(home, 'status')
  return exitCode === 0 ? (JSON.parse(stdout) as Status) : undefined
}

export const numbersOf = ({ keys }: Status): number[] => keys.map(({ number }) => number)

export const olderRowsOf = ({ keys }: Status): number =>
  keys.filter(({ state }) => state !== 'current').reduce((sum, { rows }) => sum + rows, 0)
