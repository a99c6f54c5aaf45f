/**
 * The Debian and the RPM package: made of this binary, installed on a throw-away machine, used as
 * an operator would, and removed again. Skipped if nfpm is missing, which
 * `scripts/install-packaging-tools` installs, or where no such machine can be made.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { version } from '../../package.json' with { type: 'json' }
import { packagingTool } from '../../scripts/packaging-tools.ts'
import { temporaryFolder } from '../support/folders.ts'
import { hasThrowAwayMachine, runOnThrowAwayMachine } from '../support/throw-away-machine.ts'

const project = resolve(import.meta.dir, '../..')
const binary = process.env['COFFER_BINARY']
const kind = `linux-${process.arch}`
const name = `coffer-${version}-${kind}`
/** Each compresses 130 MB, and the machine may be busy. */
const packagingMsMax = 900_000

const makePackages = (...folders: readonly string[]) => {
  const script = join(project, 'scripts/linux-packages.ts')
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, script, ...folders])
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
}

const use = `
id -un coffer
stat -c '%U %a' /var/lib/coffer /etc/coffer
cd /etc/coffer
coffer init --data /var/lib/coffer --master-key-file master.key --key-file management.key
chown -R coffer: /var/lib/coffer
test -s /usr/share/bash-completion/completions/coffer
systemd-analyze verify coffer.service
test -s /usr/share/doc/coffer/docs/operations.md
test -s /usr/share/doc/coffer/docs/prometheus-rules.yml
test -s /usr/share/doc/coffer/examples/haproxy/haproxy.cfg
test -s /usr/share/doc/coffer/examples/many-machines/patroni.yml
test -s /usr/share/doc/coffer/SECURITY.md
test -s /usr/share/doc/coffer/docs/img/interface-light.png
`
const afterwards = `
test ! -e /usr/bin/coffer
test ! -e /usr/lib/systemd/system/coffer.service
stat -c '%U %a' /var/lib/coffer/store /etc/coffer/master.key
id -un coffer
`
const told = /^coffer\ncoffer 700\nroot 755\n(?:.*\n){4}(?:.*\n)*coffer 700\nroot 600\ncoffer\n$/

test('a folder without binaries for Linux gives no package, and says so', () => {
  const folder = temporaryFolder()
  const { exitCode, stdout, stderr } = makePackages(folder)
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^linux-packages: (?:no binary for Linux|no nfpm)[^\n]*\n$/)
})

describe.skipIf(
  binary === undefined || packagingTool('nfpm') === undefined || !hasThrowAwayMachine,
)('packages for Linux', () => {
  let folder: string
  const file = (packager: string): string => join(folder, `${name}.${packager}`)

  beforeAll(() => {
    folder = temporaryFolder()
    cpSync(resolve(binary ?? ''), join(folder, name))
    expect(makePackages(folder)).toMatchObject({ exitCode: 0, stderr: '' })
  }, packagingMsMax)

  const sumsIn = (of: string): string => readFileSync(join(of, 'SHA256SUMS'), 'utf8')
  const sums = /^[0-9a-f]{64} {2}coffer-\S+\.deb\n[0-9a-f]{64} {2}coffer-\S+\.rpm\n$/

  test('have their sums beside them', () => {
    expect(sumsIn(folder)).toMatch(sums)
  })

  // A small program: the real one takes long to compress.
  test(
    'are the same when they are made again, and others of another program',
    () => {
      const small = temporaryFolder()
      writeFileSync(join(small, name), 'a program', { mode: 0o755 })
      const sumsAfter = (): string => {
        expect(makePackages(small).exitCode).toBe(0)
        return sumsIn(small)
      }
      const first = sumsAfter()
      expect(sumsAfter()).toBe(first)
      expect(first).not.toBe(sumsIn(folder))
    },
    packagingMsMax,
  )

  test(
    'by dpkg: the user, the folders and the unit are there; data and keys stay',
    () => {
      const install = `dpkg --install '${file('deb')}' >/dev/null 2>&1`
      const remove = 'dpkg --remove coffer >/dev/null 2>&1'
      const script = [install, use, remove, afterwards].join('\n')
      const { exitCode, stdout, stderr } = runOnThrowAwayMachine(script)
      expect([exitCode, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(told)
    },
    packagingMsMax,
  )

  test.skipIf(Bun.which('rpm') === null)(
    'by rpm: the same',
    () => {
      // The libraries that it needs are here as packages of another kind.
      const install = `rpm --install --nodeps '${file('rpm')}'`
      const script = [install, use, 'rpm --erase coffer', afterwards].join('\n')
      const { exitCode, stdout, stderr } = runOnThrowAwayMachine(script)
      expect([exitCode, stdout, stderr]).toEqual([0, expect.stringMatching(told), stderr])
    },
    packagingMsMax,
  )
})
