/**
 * The image as a container runs it, where there is no Docker: its root file system, mounted
 * read-only in a mount namespace, and the program in it by chroot, as the user and with the
 * environment that the Dockerfile gives.
 * @module
 */
import { chownSync, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const project = resolve(import.meta.dir, '../..')
const dockerfile = readFileSync(join(project, 'Dockerfile'), 'utf8')
/** The last stage is what ships. */
const shipped = dockerfile.slice(dockerfile.lastIndexOf('FROM '))

/** What an instruction is given, each time that it stands there. */
export const instruction = (name: string): string[] =>
  [...shipped.matchAll(new RegExp(`^${name} (.+)$`, 'gm'))].map(([, value = '']) => value)

const listOf = (name: string): string[] =>
  instruction(name).flatMap(value => JSON.parse(value) as string[])

/** `scripts/image-root`, which the Dockerfile runs too. */
export function makeImageRoot(binary: string, folder: string): void {
  const words = ['sh', join(project, 'scripts/image-root'), binary, folder]
  const { exitCode, stderr } = Bun.spawnSync(words, { stdout: 'inherit' })
  if (exitCode !== 0) throw new Error(stderr.toString())
}

/** Folders of the machine that stand for volumes, owned by the user of the image. */
export function makeVolumes(parent: string): Image['volumes'] {
  const [uid = 0, gid = 0] = (instruction('USER')[0] ?? '').split(':').map(Number)
  const make = (name: string): string => {
    const path = join(parent, name)
    mkdirSync(path, { mode: 0o700 })
    chownSync(path, uid, gid)
    return path
  }
  return { '/data': make('data'), '/key': make('key') }
}

/** Where volumes are mounted is what may be written; nothing there may be executed. */
const mounting = `set -e
root=$1 data=$2 key=$3 user=$4
shift 4
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount --bind "$data" "$root/data"
mount --bind "$key" "$root/key"
for place in /data /key; do mount -o remount,bind,nosuid,nodev,noexec "$root$place"; done
mount -o remount,bind,ro,nosuid,nodev "$root"
PATH=$PATH:/usr/sbin:/sbin
exec setpriv --no-new-privs chroot --userspec="$user" "$root" "$@"
`

export interface Image {
  readonly root: string
  readonly volumes: Readonly<Record<'/data' | '/key', string>>
}

/** @returns a command that runs the image with arguments behind it, as `docker run` does */
export function imageCommand({ root, volumes }: Image, args: readonly string[]): string[] {
  const mounted = [root, volumes['/data'], volumes['/key'], instruction('USER')[0] ?? '']
  // Who is killed takes along what it started in its namespace.
  const isolated = ['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', mounting]
  const environment = ['env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', ...instruction('ENV')]
  const given = args.length > 0 ? args : listOf('CMD')
  return [...environment, ...isolated, 'mounting', ...mounted, ...listOf('ENTRYPOINT'), ...given]
}
