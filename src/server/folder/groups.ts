/**
 * Groups of the system: their numbers, and who is in them.
 * @module
 */
import { readFileSync } from 'node:fs'
import { groupFileBytesMax } from '../../limits/operation-limits.ts'
import { CommandFailure } from '../process/failure.ts'

const groupFile = '/etc/group'

/**
 * Returns the number of a group. Only the group file is searched, as containers have it too.
 * @throws CommandFailure for an unknown name
 */
export function groupIdOf(group: string, file = groupFile): number {
  if (/^\d+$/.test(group)) return Number(group)
  const lines = readFileSync(file).subarray(0, groupFileBytesMax).toString('latin1').split('\n')
  const line = lines.find(each => each.startsWith(`${group}:`))
  const [, , number = ''] = line?.split(':') ?? []
  if (/^\d{1,9}$/.test(number)) return Number(number)
  throw new CommandFailure(
    '--socket-group: there is no group of that name in /etc/group: name another, or its number',
  )
}

/*
 * Members of a group of the system, according to its files.
 * Source: group(5), passwd(5), nsswitch.conf(5).
 */

/** Contents of the system's files; empty if one is missing, as in images without a shell. */
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

/** Databases that decide membership; `passwd` gives a user's primary group. */
const databases = /^\s*(?:group|passwd|initgroups)\s*:([^#\n]*)/gm
/** Lines by which `compat` includes entries from other sources. */
const includes = /^[+-]/m

/** True if users or groups also come from other sources, such as a company directory. */
function isAskedElsewhere({ group, passwd, nsswitch }: GroupFiles): boolean {
  if (includes.test(group) || includes.test(passwd)) return true
  const sources = Array.from(nsswitch.matchAll(databases), ([, named = '']) => named).join(' ')
  return /[a-z]/i.test(sources.replaceAll(/\[[^\]]*\]|\b(?:files|compat|systemd)\b/g, ''))
}

/** True if the system's files say that a user is in a group; other sources are not asked. */
export function isInGroup(uid: number, gid: number, { group, passwd }: GroupFiles): boolean {
  const own = fieldsOf(passwd).filter(([, , user]) => user === String(uid))
  const names = own.map(([name = '']) => name)
  return (
    own.some(([, , , primary]) => primary === String(gid)) ||
    fieldsOf(group)
      .filter(([, , number]) => number === String(gid))
      .flatMap(([, , , members = '']) => members.split(','))
      .some(name => name !== '' && names.includes(name.trim()))
  )
}

/**
 * True if only that user and root are members of a group, so that its rights go to no one else.
 *
 * decision: a group that no file names, such as the one that Kubernetes gives a volume, has no
 * members; if groups also come from other sources, no group is known to be empty.
 */
export function isGroupOf(gid: number, uid: number, files: GroupFiles): boolean {
  if (isAskedElsewhere(files)) return false
  const { group, passwd } = files
  const users = fieldsOf(passwd)
  const isOther = (user: number): boolean => user !== uid && user !== root
  // The line of a group does not name users that have it as their primary group.
  if (users.some(([, , user, own]) => Number(own) === gid && isOther(Number(user)))) return false
  const uidOf = new Map(users.map(([name = '', , user]) => [name, Number(user)]))
  const members = fieldsOf(group)
    .filter(([, , number]) => number !== undefined && Number(number) === gid)
    .flatMap(([, , , names = '']) => names.split(','))
    .map(name => name.trim())
    .filter(name => name !== '')
  return members.every(name => !isOther(uidOf.get(name) ?? Number.NaN))
}
