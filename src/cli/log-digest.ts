/**
 * `coffer log digest`: by what lines of the request log tell of a token.
 * @module
 */
import { digestedIdsMax } from '../limits/operation-limits.ts'
import type { FolderOptions } from '../server/folder/data-folder.ts'
import { CommandFailure, usageExitCode } from '../server/process/failure.ts'
import { sayJson, sayNow } from '../server/process/system.ts'
import { readTextInput } from './input.ts'
import { operate } from './operate.ts'

export interface LogDigestOptions extends FolderOptions {
  readonly json?: boolean
}

function idsFrom(id: string): readonly string[] {
  if (id !== '-') return [id]
  const ids = readTextInput('ids').split(/\r?\n/)
  if (ids.at(-1) === '') ids.pop()
  if (ids.length > 0 && ids.length <= digestedIdsMax) return ids
  const expected = `standard input: expected 1 to ${digestedIdsMax} ids, one a line`
  throw new CommandFailure(expected, usageExitCode)
}

export async function logDigest(id: string, options: LogDigestOptions): Promise<void> {
  const { digests } = await operate(options, 'log-digest', { ids: idsFrom(id) })
  if (options.json === true) return sayJson({ digests })
  for (const digest of digests as readonly string[]) sayNow(digest)
}
