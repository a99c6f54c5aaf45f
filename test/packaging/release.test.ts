/**
 * `bun run release`, for this kind of machine alone: its sums are right, it runs, and a checkout
 * elsewhere gives the same bytes.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import Ajv from 'ajv'
import addFormats from 'ajv-formats'
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { version } from '../../package.json' with { type: 'json' }
import { buildIdOf } from '../../scripts/build-id.ts'
import { releaseTargets } from '../../scripts/release/targets.ts'
import { temporaryFolder } from '../support/folders.ts'

const project = resolve(import.meta.dir, '../..')
const own = `${process.platform}-${process.arch}`
/** Much is written, and other tests run beside this. */
const releaseMsMax = 900_000
const name = `coffer-${version}-${own}`

/** Copies the files that the build reads to another folder; packages come from Bun's cache. */
function copyCheckout(): string {
  const copy = join(temporaryFolder(), 'somewhere', 'else')
  for (const part of ['src', 'scripts', 'package.json', 'bun.lock', 'tsconfig.json']) {
    cpSync(join(project, part), join(copy, part), { recursive: true })
  }
  const words = [process.execPath, 'install', '--frozen-lockfile', '--ignore-scripts', '--silent']
  expect(Bun.spawnSync(words, { cwd: copy }).exitCode).toBe(0)
  return copy
}

function release(checkout: string, ...targets: readonly string[]) {
  const words = [process.execPath, join(checkout, 'scripts/release.ts'), ...targets]
  const { exitCode, stderr } = Bun.spawnSync(words, { cwd: checkout })
  return { exitCode, stderr: stderr.toString(), folder: join(checkout, 'dist', 'release') }
}

const sha256Of = (path: string): string =>
  createHash('sha256').update(readFileSync(path)).digest('hex')

describe('bun run release', () => {
  let folder: string
  let checkout: string

  beforeAll(() => {
    checkout = copyCheckout()
    const ended = release(checkout, own)
    expect([ended.exitCode, ended.stderr]).toEqual([0, ''])
    folder = ended.folder
  }, releaseMsMax)

  test('makes the binary, what is inside, and the sums of both', () => {
    expect(readdirSync(folder).toSorted()).toEqual(
      ['SHA256SUMS', name, `${name}.cdx.json`].toSorted(),
    )
    const expected = [name, `${name}.cdx.json`].map(
      file => `${sha256Of(join(folder, file))}  ${file}\n`,
    )
    expect(readFileSync(join(folder, 'SHA256SUMS'), 'utf8')).toBe(expected.join(''))
  })

  test('makes a binary that runs', () => {
    const env = { PATH: process.env['PATH'], BUN_TMPDIR: temporaryFolder() }
    const { stdout, exitCode } = Bun.spawnSync([join(folder, name), 'version'], { env })
    expect([exitCode, stdout.toString()]).toEqual([0, `${version}+${buildIdOf(checkout)}\n`])
  })

  test(
    'makes the same bytes from the same sources in another folder',
    () => {
      const before = readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
      const again = copyCheckout()
      const ended = release(again, own)
      expect(readFileSync(join(ended.folder, 'SHA256SUMS'), 'utf8')).toBe(before)
      rmSync(again, { recursive: true })
    },
    releaseMsMax,
  )

  test('tells what is inside, as CycloneDX has it, with the hashes of the lock file', () => {
    const bom: unknown = JSON.parse(readFileSync(join(folder, `${name}.cdx.json`), 'utf8'))
    const schemas = join(project, 'node_modules/@cyclonedx/cyclonedx-library/res/schema')
    const read = (file: string) =>
      JSON.parse(readFileSync(join(schemas, `${file}.SNAPSHOT.schema.json`), 'utf8')) as object
    const ajv = new Ajv({ strict: false, validateFormats: false })
    addFormats(ajv)
    for (const part of ['spdx', 'jsf-0.82']) {
      ajv.addSchema(read(part), `http://cyclonedx.org/schema/${part}.SNAPSHOT.schema.json`)
    }
    const isValid = ajv.validate(read('bom-1.6'), bom)
    expect([isValid, ajv.errors]).toEqual([true, null])
    const { components } = bom as {
      readonly components: readonly { readonly purl: string; readonly licenses?: unknown[] }[]
    }
    const all = components.map(({ purl }) => purl)
    const purls = all.map(purl => purl.replace(/@[^@]+$/, ''))
    expect(purls).toContainValues([
      'pkg:npm/elysia',
      'pkg:npm/lmdb',
      `pkg:npm/%40lmdb/lmdb-${own}`,
      'pkg:npm/sodium-native',
    ])
    expect(purls.some(purl => purl.startsWith('pkg:npm/%40oven/bun-'))).toBe(true)
    // Tools of the build and of the tests are not inside.
    for (const tool of ['typescript', 'knip', 'fast-check']) {
      expect(purls).not.toContain(`pkg:npm/${tool}`)
    }
    expect(new Set(all).size).toBe(all.length)
    expect(components.filter(({ licenses }) => licenses === undefined)).toEqual([])
  })

  test('refuses a kind of machine that it does not know, such as one with musl', () => {
    const { exitCode, stderr } = release(checkout, 'linux-x64-musl')
    const known = releaseTargets.map(target => target.name).join(', ')
    expect([exitCode, stderr]).toEqual([2, `release: expected some of ${known}\n`])
  })
})
