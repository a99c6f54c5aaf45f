/**
 * What `coffer app create` asks for, from its options.
 * @module
 */
import type { Facts } from '../vault/operator/operator-operation.ts'
import { isJsonObject, toPlain } from '../lib/json/json.ts'
import { decodeUtf8, parseJson } from '../lib/json/parse-json.ts'
import { nameCharsMax } from '../limits/limits.ts'
import { rulesFileBytesMax } from '../limits/operation-limits.ts'
import { permissions } from '../rules/permissions.ts'
import { CommandFailure, usageExitCode } from '../server/process/failure.ts'
import { readHanded } from '../server/folder/handed-files.ts'

export interface AppRequestOptions {
  readonly name?: string
  /** The name, of what is only made where none has it. */
  readonly ifAbsent?: string
  /** May be left out where there is one tenant alone. */
  readonly tenant?: string
  readonly type?: string
  readonly permission?: readonly string[]
  /** A file: a JSON array of rules, as the interface takes them. */
  readonly rules?: string
}

const usage = (message: string) => new CommandFailure(message, usageExitCode)

const defaultName = 'Made on the command line'

function nameOf({ name, ifAbsent }: AppRequestOptions): string {
  if (name !== undefined && ifAbsent !== undefined) {
    throw usage('--name: expected without --if-absent, which names it too')
  }
  const given = (ifAbsent ?? name ?? defaultName).trim()
  if (given !== '' && given.length <= nameCharsMax) return given
  const flag = ifAbsent === undefined ? '--name' : '--if-absent'
  throw usage(`${flag}: expected 1 to ${nameCharsMax} characters`)
}

function permissionsOf({ permission: given = [] }: AppRequestOptions): Facts {
  const known: readonly string[] = permissions
  const wrong = given.findIndex(name => !known.includes(name))
  if (wrong < 0) return given.length === 0 ? {} : { permissions: [...new Set(given)] }
  throw usage(`--permission: expected one such as token:create; number ${wrong + 1} is none`)
}

function readRules(path: string): unknown {
  try {
    const bytes = readHanded(path, rulesFileBytesMax)
    const json = bytes && parseJson(decodeUtf8(bytes))
    if (Array.isArray(json) && json.every(isJsonObject)) return toPlain(json)
  } catch (error) {
    // Whatever else it is, no word of the file is repeated.
    if (error instanceof CommandFailure) throw error
  }
  const expected = `a JSON array of rules, of at most ${rulesFileBytesMax} bytes`
  throw usage(`the file at ${path} of --rules: expected ${expected}`)
}

/** @throws CommandFailure that repeats no value but a path */
export function appRequestOf(options: AppRequestOptions): Facts {
  const { tenant, type, rules, ifAbsent } = options
  return {
    name: nameOf(options),
    ...(tenant === undefined ? {} : { tenant }),
    ...(type === undefined ? {} : { type }),
    ...permissionsOf(options),
    ...(rules === undefined ? {} : { rules: readRules(rules) as Facts[] }),
    ...(ifAbsent === undefined ? {} : { if_absent: true }),
  }
}
