/**
 * Who else is in a group of the system, by its files.
 * Source: group(5), passwd(5), nsswitch.conf(5).
 * @module
 */
import { readFileSync } from 'node:fs'

/** Texts of the system's files; empty where one is not there, as in images without a shell. */
export interface GroupFiles {
  readonly group: string
  readonly passwd: string
  readonly nsswitch: string
}

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

export const readGroupFiles = (): GroupFiles => ({
  group: textOf('/etc/group'),
  passwd: textOf('/etc/passwd'),
  nsswitch: textOf('/etc/nsswitch.conf'),
})

const root = 0

const fieldsOf = (text: string): readonly (readonly string[])[] =>
  text.split('\n').map(line => line.split(':'))

/** Those by which somebody may be in a group: a user has one from the start. */
const databases = /^\s*(?:group|passwd|initgroups)\s*:([^#\n]*)/gm
/** In the files themselves: what comes from elsewhere, by `compat`. */
const includes = /^[+-]/m

/** Whether users or groups come from elsewhere too, as from a directory of a company. */
function isAskedElsewhere({ group, passwd, nsswitch }: GroupFiles): boolean {
  if (includes.test(group) || includes.test(passwd)) return true
  const sources = Array.from(nsswitch.matchAll(databases), ([, named = '']) => named).join(' ')
  return /[a-z]/i.test(sources.replaceAll(/\[[^\]]*\]|\b(?:files|compat|systemd)\b/g, ''))
}

/**
 * Whether nobody but that user and root is in a group: then what it may write, no one else may.
 *
 * decision: a group that no file names, as the one that Kubernetes gives a volume, has no members;
 * where groups come from elsewhere as well, none is known to have none.
 */
export function isGroupOf(gid: number, uid: number, files: GroupFiles): boolean {
  if (isAskedElsewhere(files)) return false
  const { group, passwd } = files
  const users = fieldsOf(passwd)
  const isOther = (user: number): boolean => user !== uid && user !== root
  // Of a user with a group from the start the line of the group says nothing.
  if (users.some(([, , user, own]) => Number(own) === gid && isOther(Number(user)))) return false
  const uidOf = new Map(users.map(([name = '', , user]) => [name, Number(user)]))
  const members = fieldsOf(group)
    .filter(([, , number]) => number !== undefined && Number(number) === gid)
    .flatMap(([, , , names = '']) => names.split(','))
    .map(name => name.trim())
    .filter(name => name !== '')
  return members.every(name => !isOther(uidOf.get(name) ?? Number.NaN))
}
