/**
 * What lies in a folder that counts as empty: names that file systems, systems and tools leave
 * there. They are of no vault, and stay as they are.
 * @module
 */
import { readdirSync } from 'node:fs'

/** In lower case, as some of these systems tell no case. */
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
  // What keeps an empty folder in a repository.
  '.gitkeep',
  '.gitignore',
  '.keep',
  '.empty',
  '.placeholder',
])

/** A file that was removed while it was open, a trash folder of a user, attributes of a file. */
const leftPattern = /^(?:\.nfs[0-9a-f]{8,}|\.fuse_hidden[0-9a-f]+|\.trash-\d+|\._.*)$/

const isLeft = (name: string): boolean =>
  leftNames.has(name.toLowerCase()) || leftPattern.test(name.toLowerCase())

/** The names in a folder, without those. @throws the system's own error */
export const ownNamesIn = (folder: string): readonly string[] =>
  readdirSync(folder).filter(name => !isLeft(name))
