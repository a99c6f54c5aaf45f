/**
 * A small disk of its own that can be filled: a tmpfs, or ext4 in a file. Needs root.
 * @module
 */
import {
  closeSync,
  mkdirSync,
  openSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { systemCodeOf } from '../../../src/server/process/failure.ts'

export type DiskKind = 'tmpfs' | 'ext4'

export interface Disk {
  readonly path: string
  /** Fills the disk until so many bytes are free. */
  fillTo(freeBytes: number): void
  /** Makes empty files until there is no room for a name. */
  takeNames(): void
  /** Frees everything again. */
  free(): void
  unmount(): void
}

const diskMiB = 112
const namesUsual = 400
const chunk = Buffer.alloc(1024 * 1024, 1)

function runTool(...command: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([...command], { stderr: 'pipe' })
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr.toString().trim()}`)
}

function mount(kind: DiskKind, path: string, image: string, names: number): void {
  if (kind === 'tmpfs') {
    const options = `size=${diskMiB}m,nr_inodes=${names},mode=700`
    return runTool('mount', '-t', 'tmpfs', '-o', options, 'coffer-disk', path)
  }
  writeFileSync(image, '')
  truncateSync(image, diskMiB * 1024 * 1024)
  runTool('mkfs.ext4', '-q', '-F', '-m', '0', '-N', String(names), image)
  runTool('mount', '-o', 'loop', image, path)
}

/** Writes until so few bytes are free, or the disk is full. */
function writeBallast(path: string, ballast: string, freeBytes: number): void {
  const file = openSync(ballast, 'a')
  try {
    for (;;) {
      const { bavail, bsize } = statfsSync(path)
      const wanted = Math.min(chunk.length, bavail * bsize - freeBytes)
      // The rest of a partly used page counts as free too.
      writeSync(file, chunk, 0, wanted > 0 ? wanted : 1)
      if (wanted <= 0 && freeBytes > 0) return
    }
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOSPC') throw error
  } finally {
    closeSync(file)
  }
}

function makeNames(folder: string): void {
  mkdirSync(folder, { recursive: true })
  try {
    for (let count = 0; ; count += 1) writeFileSync(join(folder, String(count)), '')
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOSPC') throw error
  }
}

/**
 * @param names number of files that it can hold
 * @throws Error that says why it cannot be mounted
 */
export function mountDisk(kind: DiskKind, folder: string, names = namesUsual): Disk {
  const path = join(folder, 'disk')
  const image = join(folder, 'disk.image')
  mkdirSync(path, { recursive: true })
  mount(kind, path, image, names)
  const ballast = join(path, 'ballast')
  const empty = join(path, 'names')
  return {
    path,
    fillTo: freeBytes => writeBallast(path, ballast, freeBytes),
    takeNames: () => makeNames(empty),
    free() {
      rmSync(ballast, { force: true })
      rmSync(empty, { recursive: true, force: true })
    },
    unmount() {
      runTool('umount', path)
      rmSync(image, { force: true })
    },
  }
}
