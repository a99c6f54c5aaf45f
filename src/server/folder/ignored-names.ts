/**
 * Names that file systems, systems and tools leave in a folder that counts as empty. They belong to
 * no vault, and stay as they are.
 * @module
 */
import { readdirSync } from 'node:fs'

/** In lower case, as some of these systems ignore case. */
const leftNames: ReadonlySet<string> = new Set([
  // File systems, volumes and their snapshots.
  'lost+found',
  '.snapshot',
  '.snapshots',
  '~snapshot',
  '.zfs',
  '.glusterfs',
  '.trashcan',
  'aquota.user',
  'aquota.group',
  '.ckpt',
  '@eadir',
  '#recycle',
  '#snapshot',
  // Desktops.
  '.ds_store',
  '.apdisk',
  '.documentrevisions-v100',
  '.fseventsd',
  '.spotlight-v100',
  '.temporaryitems',
  '.trashes',
  '.volumeicon.icns',
  '.directory',
  'desktop.ini',
  'thumbs.db',
  '$recycle.bin',
  'system volume information',
  // Placeholders that keep an empty folder in a repository.
  '.gitkeep',
  '.gitignore',
  '.keep',
  '.empty',
  '.placeholder',
])

/** Files removed while open, a user's trash folder, file attributes. */
const leftPattern = /^(?:\.nfs[0-9a-f]{8,}|\.fuse_hidden[0-9a-f]+|\.trash-\d+|\._.*)$/

const isLeft = (name: string): boolean =>
  leftNames.has(name.toLowerCase()) || leftPattern.test(name.toLowerCase())

/** Names in a folder, without ignored ones. @throws the system's own error */
export const ownNamesIn = (folder: string): readonly string[] =>
  readdirSync(folder).filter(name => !isLeft(name))
