/**
 * Groups of the system by their names.
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
