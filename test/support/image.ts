/**
 * Runs the image without Docker as a container would: mounts its root file system read-only in a
 * mount namespace, and runs the program in it by chroot, with the user and environment of the
 * Dockerfile.
 * @module
 */
import { chownSync, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const project = resolve(import.meta.dir, '../..')
const dockerfile = readFileSync(join(project, 'Dockerfile'), 'utf8')
/** The last stage is the one that ships. */
const shipped = dockerfile.slice(dockerfile.lastIndexOf('FROM '))

/** Returns the arguments of each use of an instruction. */
export const instruction = (name: string): string[] =>
  [...shipped.matchAll(new RegExp(`^${name} (.+)$`, 'gm'))].map(([, value = '']) => value)

const listOf = (name: string): string[] =>
  instruction(name).flatMap(value => JSON.parse(value) as string[])

/** Root in a container of its own may often not mount. */
export const mayMount =
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  Bun.spawnSync(['unshare', '--mount', '--pid', '--fork', 'true']).exitCode === 0

/** `scripts/image-root`, which the Dockerfile runs too. */
export function makeImageRoot(binary: string, folder: string): void {
  const words = ['sh', join(project, 'scripts/image-root'), binary, folder]
  const { exitCode, stderr } = Bun.spawnSync(words, { stdout: 'inherit' })
  if (exitCode !== 0) throw new Error(stderr.toString())
}

/** Folders of the machine in place of volumes, owned by the user of the image. */
export function makeVolumes(parent: string) {
  const [uid = 0, gid = 0] = (instruction('USER')[0] ?? '').split(':').map(Number)
  const make = (name: string): string => {
    const path = join(parent, name)
    mkdirSync(path, { mode: 0o700 })
    chownSync(path, uid, gid)
    return path
  }
  return { '/data': make('data'), '/key': make('key') }
}

/**
 * Volumes are mounted noexec, and all else is read-only. `/proc` and `/dev` are as every container
 * runtime makes them.
 */
const mounting = `set -e
root=$1 user=$2
shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mkdir -p "$root/dev"
mount -t tmpfs -o nosuid,noexec,mode=755 tmpfs "$root/dev"
for device in null zero random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
while [ "$1" != -- ]; do
  mount --bind "$1" "$root$2"
  mount -o "remount,bind,nosuid,nodev,noexec$3" "$root$2"
  shift 3
done
shift
mount -o remount,bind,ro,nosuid,nodev "$root"
PATH=$PATH:/usr/sbin:/sbin
exec setpriv --no-new-privs chroot --userspec="$user" "$root" "$@"
`

export interface Image {
  readonly root: string
  /** Folders of this machine by mount point; `/key:ro` for a read-only one. */
  readonly volumes: Readonly<Record<string, string>>
}

/** @returns a command that runs the image with these arguments, as `docker run` does */
export function imageCommand({ root, volumes }: Image, args: readonly string[]): string[] {
  const mounts = Object.entries(volumes).flatMap(([target, source]) => {
    const [path = '', mode] = target.split(':')
    return [source, path, mode === undefined ? '' : `,${mode}`]
  })
  const mounted = [root, instruction('USER')[0] ?? '', ...mounts, '--']
  // Killing the command must also kill its namespace's processes.
  const isolated = ['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', mounting]
  const environment = ['env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', ...instruction('ENV')]
  const given = args.length > 0 ? args : listOf('CMD')
  return [...environment, ...isolated, 'mounting', ...mounted, ...listOf('ENTRYPOINT'), ...given]
}
