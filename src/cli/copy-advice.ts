/**
 * Advice about copies of a vault that other commands have left. Source: server/folder/copies.ts.
 * @module
 */
import { basename } from 'node:path'
import type { FoundCopy } from '../server/folder/copies.ts'
import { pathsOf } from '../server/folder/folder-stamp.ts'

const { ownFile, databaseLeft } = pathsOf('')
const isNamed = (path: string, as: string): boolean => basename(path) === basename(as)

/** Advice about a copy that still exists. */
function adviceOf({ path, state }: FoundCopy): string {
  if (state === 'held')
    return `${path} is a copy that another command works on, or of another user: wait for it`
  if (state === 'left') return `${path} is a copy that a command has left: start serve, or compact`
  if (isNamed(path, ownFile))
    return `${path} is of a move that was cut off: run that coffer move --to again`
  return isNamed(path, databaseLeft)
    ? `${path} names a database that has a copy: drop its schema, then remove this file`
    : `${path} is what the vault was before it moved: remove it once the database has a backup`
}

export const advicesOf = (copies: readonly FoundCopy[]): readonly string[] => copies.map(adviceOf)
