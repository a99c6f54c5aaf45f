/**
 * `coffer log digest`: the digests by which lines of the request log name a token.
 * @module
 */
import type { Command } from 'commander'
import { digestedIdsMax } from '../../limits/operation-limits.ts'
import type { FolderOptions } from '../../server/folder/data-folder.ts'
import { usage } from '../../server/process/failure.ts'
import { sayJson, sayNow } from '../../server/process/system.ts'
import { readTextInput } from '../input.ts'
import { operate } from '../operate.ts'
import { takesVault } from '../vault-options.ts'

interface LogDigestOptions extends FolderOptions {
  readonly json?: boolean
}

function idsFrom(id: string): readonly string[] {
  if (id !== '-') return [id]
  const ids = readTextInput('ids').split(/\r?\n/)
  if (ids.at(-1) === '') ids.pop()
  if (ids.length > 0 && ids.length <= digestedIdsMax) return ids
  const expected = `standard input: expected 1 to ${digestedIdsMax} ids, one a line`
  throw usage(expected)
}

async function logDigest(id: string, options: LogDigestOptions): Promise<void> {
  const { digests } = await operate(options, 'log-digest', { ids: idsFrom(id) })
  if (options.json === true) return sayJson({ digests })
  for (const digest of digests as readonly string[]) sayNow(digest)
}

export function addLog(program: Command): void {
  const log = program.command('log').description('what helps to read the request log')
  takesVault(log.command('digest <id>'), { store: 'any', joins: true })
    .description('print what stands for a token in the request log; - reads ids, one a line')
    .option('--json', 'print one line of JSON')
    .action((id: string, options: LogDigestOptions) => logDigest(id, options))
}
