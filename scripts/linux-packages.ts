/**
 * `npm run release:packages [FOLDER]`: makes a `.deb` and an `.rpm` for each Linux binary of a
 * release in the folder, by default `dist/release`, and adds their lines to its `SHA256SUMS`. Uses
 * nfpm, which `scripts/install-packaging-tools` installs; equal binaries give equal packages.
 * @module
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { version } from '../package.json' with { type: 'json' }
import { packagingTool } from './packaging-tools.ts'

const root = resolve(import.meta.dir, '..')
/** nfpm takes Go's names, and converts them to those of Debian and RPM. */
const architectures = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' } as const
const packagers = ['deb', 'rpm'] as const
/** 2026-01-01 for every file inside, so that equal binaries give equal bytes. Seconds. */
const sourceDateEpoch = '1767225600'

const fail = (message: string): never => {
  console.error(`linux-packages: ${message}`)
  return process.exit(1)
}

const nfpm = packagingTool('nfpm') ?? fail('no nfpm: sh scripts/install-packaging-tools gets it')

/** Prints the program's own texts: the same for every architecture. */
function printInto(folder: string): void {
  const print = (file: string, ...words: readonly string[]): void => {
    const command = [process.execPath, join(root, 'src/main.ts'), ...words]
    const { exitCode, stdout, stderr } = Bun.spawnSync(command)
    if (exitCode !== 0) fail(`coffer ${words.join(' ')}: ${stderr.toString()}`)
    writeFileSync(join(folder, file), stdout)
  }
  print('coffer.service', 'systemd', 'print', '--binary', '/usr/bin/coffer')
  for (const shell of ['bash', 'zsh', 'fish']) print(`coffer.${shell}`, 'completion', shell)
}

function makePackage(program: string, target: string, packager: string, env: NodeJS.ProcessEnv) {
  const words = ['package', '--config', 'packaging/nfpm.yaml', '--packager', packager]
  const { exitCode, stderr, stdout } = Bun.spawnSync([nfpm, ...words, '--target', target], {
    cwd: root,
    env: { ...env, VERSION: version, PROGRAM: program, SOURCE_DATE_EPOCH: sourceDateEpoch },
  })
  if (exitCode !== 0) fail(`nfpm: ${stderr.toString()}${stdout.toString()}`)
}

function addSums(folder: string, names: readonly string[]): void {
  const path = join(folder, 'SHA256SUMS')
  const before = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
  const kept = before.filter(line => line !== '' && !names.some(name => line.endsWith(`  ${name}`)))
  const sums = names.map(name => {
    const hash = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex')
    return `${hash}  ${name}`
  })
  writeFileSync(path, [...kept, ...sums].map(line => `${line}\n`).join(''))
}

const folder = resolve(process.argv[2] ?? join(root, 'dist/release'))
if (process.argv.length > 3) fail('expected one folder')
if (!existsSync(folder)) fail(`no folder ${folder}: make a release first, by npm run release`)
const targets = Object.entries(architectures).filter(([target]) =>
  readdirSync(folder).includes(`coffer-${version}-${target}`),
)
if (targets.length === 0) fail(`no binary for Linux of version ${version} in ${folder}`)
const made = mkdtempSync(join(tmpdir(), 'coffer-packages-'))
process.on('exit', () => rmSync(made, { recursive: true }))
printInto(made)
const names: string[] = []
for (const [target, arch] of targets) {
  const program = join(folder, `coffer-${version}-${target}`)
  for (const packager of packagers) {
    const name = `coffer-${version}-${target}.${packager}`
    makePackage(program, join(folder, name), packager, { ...process.env, ARCH: arch, MADE: made })
    names.push(name)
    console.log(`linux-packages: ${name}`)
  }
}
addSums(folder, names)
