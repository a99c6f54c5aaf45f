/**
 * The mode and the group of a Unix socket.
 * @module
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
} from 'node:fs'
import { join } from 'node:path'
import { CommandFailure } from '../process/failure.ts'

/** O_PATH, without which no socket can be opened. Source: open(2). */
const pathOnly = 0o10_000_000

interface SocketAccess {
  readonly mode: number | undefined
  readonly groupId: number | undefined
}

/** Source: proc(5). */
const openedFiles = '/proc/self/fd'

function share(path: string, { mode, groupId }: SocketAccess): void {
  if (groupId !== undefined) chownSync(path, -1, groupId)
  if (mode !== undefined) chmodSync(path, mode)
}

/**
 * The open socket is changed, where the platform can open one: a user who may write to its folder
 * could put a link to another file in its place.
 * @throws CommandFailure unless there is a socket
 * @throws the system's own error
 */
export function shareSocket(path: string, access: SocketAccess): void {
  if (!existsSync(openedFiles)) return share(path, access)
  const socket = openSync(path, pathOnly | constants.O_NOFOLLOW)
  try {
    if (fstatSync(socket).isSocket()) return share(join(openedFiles, String(socket)), access)
  } finally {
    closeSync(socket)
  }
  throw new CommandFailure('the socket was replaced: choose a --socket in a folder of your own')
}
